namespace GroupCore.Membership;

/// <summary>Options that all members of a group share: the process that founds the group decides them, and the others must name the same ones.</summary>
public sealed record GroupOptions
{
    /// <summary>How ranks follow from view to view; default <see cref="Composition.HotSwap"/>, as the DHT needs it.</summary>
    public Composition Composition { get; init; } = Composition.HotSwap;

    /// <summary>
    /// Whether a view that excludes a member not proved dead waits until that member's lease is over, so that no two views act at
    /// the same instant (oracle.md#a-view-waits-for-the-leases-of-those-it-excludes). Default true: local strict reads rest on it.
    /// </summary>
    public bool StrictPrimary { get; init; } = true;

    /// <summary>What happens to a member whose handlers hold the others up; default <see cref="SlowMember.Block"/>: they wait, visibly.</summary>
    public SlowMember SlowMember { get; init; }

    /// <summary>How long a member's handlers may hold the others up under <see cref="SlowMember.Evict"/>; 1 s to 1 h, default 15 s.</summary>
    public TimeSpan SlowMemberTimeout { get; init; } = TimeSpan.FromSeconds(15);
}
