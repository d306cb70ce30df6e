using GroupCore.Wire;
using Ida.Testing;
using Ida.Wire;
using Oracle;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Ida.Cluster.Tests;

/// <summary>
/// Crashes the sender of the n-th frame of a named step, and then perhaps the node that has taken over the step. Counts the proposals made for each view.
/// </summary>
internal sealed class CrashStep(string step, Simulation simulation)
{
    private readonly HashSet<(ulong BaseView, ulong Number)> _proposals = [];
    private readonly CrashMoment _moment = (CrashMoment)(1 + simulation.Random.Next(3));
    private bool _begun;
    private int _left, _again = simulation.Random.Next(2);

    /// <summary>The nodes that crashed, in order of their crashes.</summary>
    public List<SimNode> Victims { get; } = [];

    /// <summary>Watches a node from its start.</summary>
    public void Watch(SimNode node) => node.WatchFrames(OnFrame);

    /// <summary>From now on: crashes at one of the first four frames if the step has several frames or several senders, else at the first.</summary>
    public void Arm() => (_begun, _left) = (true, 1 + simulation.Random.Next(Often ? 4 : 1));

    /// <summary>The most proposals that one view change took.</summary>
    public int Rounds => _proposals.GroupBy(one => one.BaseView).Max(one => one.Count());

    private CrashMoment OnFrame(SimNode sender, FrameSent frame)
    {
        if (frame.Type == FrameType.Propose && Oracle(frame) is ProposeFrame { Proposal: var proposal } && _begun)
            _proposals.Add((proposal.BaseView, proposal.Number));
        if (!Armed || !Is(frame) || --_left > 0) return CrashMoment.None;
        Victims.Add(sender);
        if (_again-- > 0) Arm();
        return _moment;
    }

    private bool Often => step is "Report" or "CutPart" or "Cut" or "FlushAck" or "Chunk";

    private bool Armed => _left > 0;

    private bool Is(FrameSent frame) => step switch
    {
        "Propose" => frame.Type == FrameType.Propose,
        "Report" => frame.Type == FrameType.Report,
        "CutPart" => frame.Type == FrameType.CutPart,
        "Cut" => frame.Type == FrameType.Cut,
        "Pull" => frame.Type == FrameType.Pull,
        "Forward" => frame.Type == FrameType.Forward,
        "FlushAck" => frame.Type == FrameType.FlushAck,
        "ViewCompletion" => frame.Type == FrameType.OracleRequest && Oracle(frame) is RequestFrame { Request.Operation: ViewCompletion },
        "Install" => frame.Type == FrameType.Install,
        "StatePull" => frame.Type == DhtFrame.Pull,
        "Chunk" => frame.Type == DhtFrame.Chunk,
        "StateEnd" => frame.Type == DhtFrame.StateEnd,
        "Ready" => frame.Type == DhtFrame.Ready,
        _ => throw new ArgumentException($"There is no step {step}."),
    };

    private static IFrame? Oracle(FrameSent frame) => FrameCodec.TryRead(frame.Type, frame.Body, out _, out var read) ? read : null;
}
