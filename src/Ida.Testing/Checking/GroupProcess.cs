using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>What is known of one process.</summary>
internal sealed class GroupProcess
{
    public GroupProcess(ProcessId id)
    {
        Id = id;
        Deliveries = new(this);
    }

    public ProcessId Id { get; }

    /// <summary>The view it has installed, 0 before the first.</summary>
    public ulong View { get; set; }

    /// <summary>Whether it holds the group's state.</summary>
    public bool Initialised { get; set; }

    /// <summary>The view of the checkpoint it loaded, 0 for none.</summary>
    public ulong CheckpointView { get; set; }

    /// <summary>Crashed, left or excluded.</summary>
    public bool Ended { get; set; }

    /// <summary>What it sent to the group, in order.</summary>
    public List<GroupMessage> Sent { get; } = [];

    /// <summary>Where in <see cref="Sent"/> its current membership begins.</summary>
    public int Begun { get; private set; }

    /// <summary>How many of <see cref="Sent"/> are known to have gone out.</summary>
    public int Gone { get; private set; }

    /// <summary>How many of those were checked: it must have delivered them itself before it went on from their view.</summary>
    public int Checked { get; set; }

    /// <summary>What it sent to single processes.</summary>
    public List<GroupChannel> Outgoing { get; } = [];

    /// <summary>What it delivered in its current view.</summary>
    public GroupDeliveries Deliveries { get; set; }

    /// <summary>Per sender and kind, how far into the sender's list this process is.</summary>
    public Dictionary<(GroupProcess Sender, MulticastKind Kind), int> Next { get; } = [];

    /// <summary>All that it sent so far has gone out, in this view at the latest.</summary>
    public void HasSent(ulong view)
    {
        for (; Gone < Sent.Count; Gone++) Sent[Gone].GoneBy = view;
        foreach (var channel in Outgoing) channel.HasSent(view);
    }

    /// <summary>It has left and was told so: what it sent before must be delivered.</summary>
    public void Owe()
    {
        for (int at = Begun; at < Sent.Count; at++) Sent[at].IsOwed |= Sent[at] is { View: 0, IsUnbound: false };
        foreach (var channel in Outgoing) channel.Owe();
    }

    /// <summary>A second membership begins: what the first one had under way may have been lost with it, unless the process left.</summary>
    public void BeginAgain()
    {
        (View, Initialised, CheckpointView, Ended, Deliveries) = (0, false, 0, false, new(this));
        Next.Clear();
        for (int at = Begun; at < Sent.Count; at++) Sent[at].IsPast |= Sent[at].View == 0;
        foreach (var channel in Outgoing) channel.BeginAgain();
        Begun = Gone = Checked = Sent.Count;
    }
}
