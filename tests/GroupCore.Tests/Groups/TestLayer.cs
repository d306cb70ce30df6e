using System.Buffers;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>A layer that notes all that happens to it, and contributes what the test gives it.</summary>
internal sealed class TestLayer(IGroupPort port, Func<byte[]> contribution) : IGroupLayer
{
    public IGroupPort Port { get; } = port;

    public List<string> Events { get; } = [];

    public List<(View View, IReadOnlyList<LayerContribution> Contributions)> Installed { get; } = [];

    public List<(int Rank, FrameType Type, byte[] Body)> Frames { get; } = [];

    public Exception? Over { get; private set; }

    public Action<int>? Room { get; set; }

    /// <summary>Called with each view.</summary>
    public Action? Enters { get; init; }

    /// <summary>Called when this member is asked to leave; returns whether it may go at once.</summary>
    public Func<bool>? Leaves { get; set; }

    public bool OnLeaving() => Leaves?.Invoke() ?? true;

    public void OnWedged(Proposal proposal) => Events.Add("wedged");

    public void Contribute(IBufferWriter<byte> into)
    {
        Events.Add("contribute");
        into.Write(contribution());
    }

    public void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions)
    {
        Events.Add($"view {view.Id}");
        Installed.Add((view, contributions));
        Enters?.Invoke();
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body) => Frames.Add((rank, type, body.ToArray()));

    public void OnRoom(int rank) => Room?.Invoke(rank);

    public void OnBlocked(bool blocked) => Events.Add(blocked ? "blocked" : "unblocked");

    public void EndOfTurn()
    {
    }

    public void OnOver(Exception reason) => Over = reason;
}
