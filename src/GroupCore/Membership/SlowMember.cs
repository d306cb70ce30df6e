namespace GroupCore.Membership;

/// <summary>What a group does about a member whose handlers hold the others up. Source: multicast.md#a-slow-member-is-told-of-and-excluded-only-where-the-group-says-so.</summary>
public enum SlowMember
{
    /// <summary>The group waits for it, however long it takes.</summary>
    Block,

    /// <summary>It is suspected after <see cref="GroupOptions.SlowMemberTimeout"/>, and excluded from the system when two other members (or the only other one) suspect it.</summary>
    Evict,
}
