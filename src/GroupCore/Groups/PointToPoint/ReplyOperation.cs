using System.Collections.Concurrent;
using System.Text;
using GroupCore.Groups.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.PointToPoint;

/// <summary>The answer to a query on its way from the worker to the loop; pooled.</summary>
internal sealed class ReplyOperation : NodeCommand
{
    private const int Pooled = 1_024;
    private static readonly ConcurrentQueue<ReplyOperation> s_pool = new();
    private static int s_pooled;
    private ReplyQueue _queue = null!;

    private ReplyOperation()
    {
    }

    public ProcessId To { get; private set; }

    public ulong Query { get; private set; }

    public PayloadBuffer Payload { get; } = new();

    public ReplyStatus Status { get; set; }

    public static ReplyOperation Rent(ReplyQueue queue, ProcessId to, ulong query)
    {
        if (s_pool.TryDequeue(out var reply)) Interlocked.Decrement(ref s_pooled);
        else reply = new();
        (reply._queue, reply.To, reply.Query, reply.Status) = (queue, to, query, ReplyStatus.Value);
        return reply;
    }

    /// <summary>Turns the reply into an error.</summary>
    public void Abort(string error)
    {
        Payload.Reset();
        Status = ReplyStatus.Abort;
        Encoding.UTF8.GetBytes(error.AsSpan(0, Math.Min(error.Length, 4_096)), Payload);
    }

    public override void Run()
    {
        if (_queue.Send(this)) Recycle();
    }

    public override void Abandon(Exception reason) => Recycle();

    private void Recycle()
    {
        _queue = null!;
        Payload.Reset();
        if (Interlocked.Increment(ref s_pooled) <= Pooled) s_pool.Enqueue(this);
        else Interlocked.Decrement(ref s_pooled);
    }
}
