using System.Buffers;
using System.Text;
using GroupCore.Wire;

namespace GroupCore.Groups.Dispatch;

/// <summary>A handler that answers queries.</summary>
internal sealed class QueryEntry<TQuery, TReply>(string name, IPayloadSerializer serializer, bool awaited, Func<MemberRef, TQuery, ValueTask<QueryAnswer<TReply>>> answer)
    : HandlerEntry(name, typeof(TQuery), typeof(TReply))
{
    public override bool IsAwaited => awaited;

    public override ValueTask Invoke(MemberRef from, ReadOnlyMemory<byte> payload) =>
        throw new WrongHandlerTypeException(Name, "answers queries and takes no plain messages");

    public override ValueTask<ReplyStatus> Answer(MemberRef from, ReadOnlyMemory<byte> payload, IBufferWriter<byte> reply)
    {
        var query = typeof(TQuery) == typeof(ReadOnlyMemory<byte>) ? (TQuery)(object)payload : serializer.Deserialize<TQuery>(payload.Span);
        var pending = answer(from, query);
        return pending.IsCompletedSuccessfully ? new(Write(pending.Result, reply)) : WriteAsync(pending, reply);
    }

    private async ValueTask<ReplyStatus> WriteAsync(ValueTask<QueryAnswer<TReply>> pending, IBufferWriter<byte> reply) =>
        Write(await pending.ConfigureAwait(false), reply);

    private ReplyStatus Write(QueryAnswer<TReply> given, IBufferWriter<byte> reply)
    {
        if (given.Status == ReplyStatus.Value) serializer.Serialize(reply, given.Value!);
        else if (given.Status == ReplyStatus.Abort) Encoding.UTF8.GetBytes(given.Error, reply);
        return given.Status;
    }
}
