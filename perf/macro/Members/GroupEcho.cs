using GroupCore.Groups;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>A message to one member and one back, each sent by a handler: the cost of the point-to-point path without a waiting caller.</summary>
internal sealed class GroupEcho
{
    private const string Ping = "ping";
    private const string Pong = "pong";
    private readonly TaskCompletionSource<Histogram> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Histogram _trips = new();
    private byte[] _message = [];
    private Window _window;
    private ulong _number;
    private long _began;

    public Group Group { get; private set; } = null!;

    public async Task JoinAsync(IdaNode node, string name, string echo, bool inline) => Group = await node.JoinAsync(name, group =>
    {
        group.OnQuery<byte[], byte[]>(echo, static (_, query) => query)
            .HandleBytes(Ping, (from, message) => Send(from.Rank, Pong, message))
            .HandleBytes(Pong, (from, message) => OnPong(from, message.Span));
        if (inline) group.Inline();
    });

    /// <summary>Keeps one message under way from the start of the load to the end of the window.</summary>
    public async Task<Histogram> SendAsync(Window window, int size)
    {
        (_window, _message) = (window, new byte[size]);
        await Clock.UntilAsync(window.Start);
        Next(1 - Group.Rank);
        return await _done.Task;
    }

    private void Next(int rank)
    {
        FilledBytes.Write(_message, ++_number, 0);
        _began = Clock.Now;
        Send(rank, Ping, _message);
    }

    private void OnPong(MemberRef from, ReadOnlySpan<byte> message)
    {
        long now = Clock.Now;
        if (!FilledBytes.TryRead(message, out ulong number, out _) || number != _number)
        {
            _done.TrySetException(new InvalidDataException("The answer is not what was sent."));
            return;
        }
        if (_window.Contains(_began)) _trips.Record(now - _began);
        if (now < _window.Until) Next(from.Rank);
        else _done.TrySetResult(_trips);
    }

    // In a handler a send is complete when it is queued; the first send is awaited through its answer.
    private void Send(int rank, string handler, ReadOnlyMemory<byte> message) => _ = Group.SendToAsync(rank, handler, message).AsTask();
}
