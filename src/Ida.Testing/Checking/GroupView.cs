using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>What is known of one view.</summary>
internal sealed class GroupView(View view)
{
    public View View { get; } = view;

    /// <summary>What the first initialised survivor to leave the view had delivered in it: all others must have the same.</summary>
    public GroupDeliveries? Reference { get; set; }

    /// <summary>The view that followed, null while nobody has installed it.</summary>
    public View? Next { get; set; }

    /// <summary>Multicasts known to be sent in this view.</summary>
    public List<GroupMessage> Sent { get; } = [];

    /// <summary>Flushes that were called in it and have returned.</summary>
    public List<GroupFlush> Flushes { get; } = [];

    /// <summary>What the members that left with this view had delivered.</summary>
    public List<GroupDeliveries> Leavers { get; } = [];

    /// <summary>Digests of members that held the state when the view began.</summary>
    public List<(GroupProcess Process, ulong Digest)> States { get; } = [];

    /// <summary>Digests of members that loaded the state.</summary>
    public List<(GroupProcess Process, ulong Digest)> Loaded { get; } = [];

    /// <summary>Whether the process takes part in the end of the view: it is in the next one, or leaves of its own will.</summary>
    public bool Survives(ProcessId process) => Next is { } next && (next.RankOf(process) >= 0 || next.Left.Contains(process));
}
