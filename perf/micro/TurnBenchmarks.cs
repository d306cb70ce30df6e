using BenchmarkDotNet.Attributes;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Perf.Micro;

/// <summary>A turn of a node without its sockets: callers' commands, frames, timers, end of turn, completions.</summary>
[MemoryDiagnoser]
public class TurnBenchmarks
{
    private const int Batch = 64;
    private readonly Host _host = new();
    private readonly Protocol _protocol = new();
    private readonly byte[] _body = new byte[100];
    private readonly Work[] _work = [.. Enumerable.Range(0, Batch).Select(_ => new Work())];
    private Node _node = null!;
    private long _now;

    [GlobalSetup]
    public void Setup()
    {
        _node = new(1, 1, _host, static _ => new NoLinks());
        _node.Route(FrameType.FirstLayer, FrameType.FirstLayer, _protocol);
        _node.AtEndOfTurn(_protocol);
        foreach (var work in _work) work.Node = _node;
    }

    [Benchmark]
    public int EmptyTurn() => Turn();

    /// <summary>Each command is posted by a caller, run on the loop, and completed outside.</summary>
    [Benchmark(OperationsPerInvoke = Batch)]
    public int Commands()
    {
        foreach (var work in _work) _node.TryPost(work);
        return Turn();
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public int Frames()
    {
        var header = new FrameHeader(_body.Length + FrameHeader.Size - 4, FrameHeader.Version, FrameType.FirstLayer, 0, 0);
        for (int i = 0; i < Batch; i++) _node.Deliver(1, header, _body);
        return Turn();
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public int Timers()
    {
        for (int i = 0; i < Batch; i++) _node.SetTimer(_now + 1 + (i * 7 % Batch), _protocol, i);
        _now += Batch;
        return Turn();
    }

    private int Turn()
    {
        _node.Advance(++_now);
        int work = _node.RunCommands(256) + _node.FireTimers();
        _node.EndTurn();
        _node.Release();
        return work;
    }

    private sealed class Host : IHostPort
    {
        public long Clock() => 0;

        public void Wake()
        {
        }

        public void RunCompletions(List<ICompletion> completions)
        {
            foreach (var completion in completions) completion.Run();
        }

        public void Resume(ICompletion work) => work.Run();
    }

    private sealed class Work : NodeCommand, ICompletion
    {
        private int _runs;

        public Node Node { get; set; } = null!;

        public override void Run() => Node.Complete(this);

        public override void Abandon(Exception reason) => throw reason;

        void ICompletion.Run() => _runs++;
    }

    private sealed class Protocol : IFrameHandler, ITimerTarget, ITurnParticipant
    {
        private long _sum;

        public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body) => _sum += body.Length;

        public void OnTimer(long token) => _sum += token;

        public void EndOfTurn() => _sum++;
    }

    private sealed class NoLinks : ILinks
    {
        public NodeAddress Local => default;

        public int Open(NodeAddress address, ulong nodeId = 0) => throw new NotSupportedException();

        public void Close(int peer) => throw new NotSupportedException();

        public void Probe(int peer) => throw new NotSupportedException();

        public ulong NodeIdOf(int peer) => throw new NotSupportedException();

        public NodeAddress AddressOf(int peer) => throw new NotSupportedException();

        public long Backlog(int peer) => throw new NotSupportedException();

        public long Room(int peer) => throw new NotSupportedException();

        public bool IsFull => throw new NotSupportedException();

        public TimeSpan TimeToRoom => throw new NotSupportedException();

        public Span<byte> Reserve(int size) => throw new NotSupportedException();

        public Span<byte> Reserved(int size) => throw new NotSupportedException();

        public void Send(int peer, int length) => throw new NotSupportedException();

        public void Send(ReadOnlySpan<int> peers, int length) => throw new NotSupportedException();
    }
}
