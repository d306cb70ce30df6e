using System.Text;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Peers;

/// <summary>The answer to a query on its way from the worker to the loop.</summary>
internal sealed class ReplyOperation(GroupProtocol group, ProcessId to, ulong query) : NodeCommand
{
    public ProcessId To { get; } = to;

    public ulong Query { get; } = query;

    public PayloadBuffer Payload { get; } = new();

    public ReplyStatus Status { get; set; }

    /// <summary>Turns the reply into an error.</summary>
    public void Abort(string error)
    {
        Payload.Reset();
        Status = ReplyStatus.Abort;
        Encoding.UTF8.GetBytes(error.AsSpan(0, Math.Min(error.Length, 4_096)), Payload);
    }

    public override void Run()
    {
        group.Reply(this);
        Payload.Reset();
    }

    public override void Abandon(Exception reason)
    {
    }
}
