using GroupCore.Membership;

namespace Ida.Maps;

/// <summary>A map or a resolver that this member declares and other members may lack.</summary>
internal abstract class Declared
{
    /// <summary>A member of the view that lacks it; null if all declare it, so that it can be used. For the loop.</summary>
    public ProcessId? LackedBy { get; set; }

    /// <summary>What it is, for a message.</summary>
    public abstract string Text { get; }

    /// <summary>The error of a call that uses it although a member lacks it.</summary>
    public abstract MapNotAgreedException NotAgreed(bool isRetry);
}
