namespace GroupCore.Membership;

/// <summary>How the ranks of the next view follow from the old ones. Source: views-and-flush.md#the-next-ranks-follow-from-the-old-ones-alone.</summary>
public enum Composition
{
    /// <summary>Survivors keep their relative order, joiners are appended.</summary>
    Shift,

    /// <summary>Survivors keep their rank; where a hole is left, the last member moves into it.</summary>
    HotSwap,
}
