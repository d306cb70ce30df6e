using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;
using Oracle;
using Oracle.Frames;

namespace Ida.Scenarios;

/// <summary>
/// A node of a simulated mesh that no system knows. It asks what any node may ask, and sends members frames of every type, well formed or damaged by their structure.
/// In some of its writes, its handshakes included, a bit is flipped on the way. None of this may harm anybody.
/// </summary>
internal sealed class MeshStranger : ITimerTarget, IFrameHandler
{
    private const int Bursts = 40, LargestBurst = 20, LongestPause = 150;
    private const double Damage = 0.1, Leaving = 0.2;
    private static readonly Lazy<IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>>> s_samples = new(FrameRecorder.Record);
    private readonly INode _node;
    private readonly FrameSender _sender;
    private readonly Func<View?> _view;
    private readonly Action<string> _drew;
    private OracleIs? _oracle;
    private SystemId _system;

    private MeshStranger(SimNode node, Func<View?> view, Action<string> drew) => (_node, _sender, _view, _drew) = (node.Node, new(node.Node), view, drew);

    /// <summary>Some of its frames were refused as malformed, so they arrived: nobody else sends what no node of this code would.</summary>
    private const string Refused = "hostile frame refused";

    /// <summary>What it may draw.</summary>
    /// <remarks>Lies in the framing are left to the bits that flip: its own links would not take them.</remarks>
    public static IReadOnlyList<string> Names { get; } = [Refused, .. Enum.GetValues<Mutation>().Where(static mutation => mutation != Mutation.Framing).Select(Name)];

    public static bool IsDrawn(ulong seed) => (seed * 0xE703_7ED1_A0B4_28DB) >> 32 is var drawn && (uint)drawn % 3 == 0;

    public static SimNode Begin(Simulation simulation, Func<View?> view, Action<string> drew)
    {
        var node = simulation.AddNode("stranger");
        node.Damage = Damage;
        var stranger = new MeshStranger(node, view, drew);
        stranger._node.Route(FrameType.OracleIs, FrameType.OracleIs, stranger);
        node.Post(() => stranger.OnTimer(0));
        return node;
    }

    /// <summary>Notes whether nodes of a simulation have refused some of its frames.</summary>
    public static void Note(IEnumerable<SimNode> nodes, Ingredients drawn)
    {
        if (nodes.Any(static one => one.Node.Counters.Refused(RefusalReason.Malformed) > 0)) drawn.Draw(Refused);
    }

    public void OnTimer(long token)
    {
        if (_view() is { Members.Count: > 0 } view) Visit(view);
        if (token < Bursts) _node.SetTimer(_node.Now + ((1 + _node.Random.Next(LongestPause)) * Durations.Millisecond), this, token + 1);
    }

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (FrameCodec.TryRead(header.Type, body, out var system, out var frame)) (_system, _oracle) = (system, (OracleIs)frame);
    }

    private void Visit(View view)
    {
        int peer = _node.Links.Open(view.Members[_node.Random.Next(view.Members.Count)].Address);
        if (_oracle is not { } oracle)
        {
            _sender.Reply(peer, new WhoIsOracle(false));
            return;
        }
        var context = new FrameContext(_system, oracle.Replicas, oracle.Leader, view.Group, view.Id,
            [.. view.Members.Select(static member => new Replica(member.Id.Node, member.Address))], [.. view.Members.Select(static member => member.Id)]);
        var source = new FrameSource(context, s_samples.Value, _node.Random, breaking: 0);
        Send(peer, FrameSource.Bind(context));
        for (int i = _node.Random.Next(LargestBurst); i >= 0; i--)
        {
            var frame = source.Next();
            for (int times = frame.Mutation == Mutation.Replay ? 3 : 1; times > 0; times--) Send(peer, frame);
            _drew(Name(frame.Mutation));
        }
        if (_node.Random.Chance(Leaving)) _node.Links.GiveUp(peer);
    }

    private void Send(int peer, HostileFrame frame)
    {
        frame.Bytes.CopyTo(_node.Links.Reserve(frame.Bytes.Length));
        _node.Links.Send(peer, frame.Bytes.Length);
    }

    private static string Name(Mutation mutation) => $"hostile frame: {mutation}";
}
