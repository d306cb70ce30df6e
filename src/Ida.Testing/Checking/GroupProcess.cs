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

    /// <summary>Crashed, left or poisoned.</summary>
    public bool Ended { get; set; }

    /// <summary>What it sent to the group, in order.</summary>
    public List<GroupMessage> Sent { get; } = [];

    /// <summary>Where in <see cref="Sent"/> its present membership begins.</summary>
    public int Begun { get; private set; }

    /// <summary>What it delivered in its present view.</summary>
    public GroupDeliveries Deliveries { get; set; }

    /// <summary>Per sender and kind, how far into the sender's list this process is.</summary>
    public Dictionary<(GroupProcess Sender, MulticastKind Kind), int> Next { get; } = [];

    /// <summary>A second membership: what the first one had under way may have been lost with it.</summary>
    public void BeginAgain()
    {
        (View, Initialised, CheckpointView, Ended, Deliveries) = (0, false, 0, false, new(this));
        Next.Clear();
        foreach (var message in Sent)
            if (message.View == 0) message.Abandoned = true;
        Begun = Sent.Count;
    }
}
