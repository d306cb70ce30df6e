namespace FiveMachines.Members;

/// <summary>What one process believes; each writes a line with it five times a second.</summary>
/// <param name="State">Where it stands with the cluster: Active, Blocked, …</param>
/// <param name="View">The view of the group that it has; 0: none yet.</param>
/// <param name="Members">Addresses of the members of that view.</param>
/// <param name="Total">The counter as it reads it now; null: it got no answer.</param>
/// <param name="Acknowledged">How often it was told that it has added one.</param>
/// <param name="Unknown">How often it was told that this is not known.</param>
/// <param name="Rests">Whether it was told to add no more, and has no call open.</param>
/// <param name="At">When that was, in milliseconds of the clock that all processes of the computer share.</param>
internal sealed record Belief(string State, ulong View, IReadOnlyList<string> Members, int? Total, long Acknowledged, long Unknown, bool Rests, long At)
{
    /// <summary>A process that has said nothing yet.</summary>
    public static Belief None { get; } = new("", 0, [], null, 0, 0, false, 0);
}
