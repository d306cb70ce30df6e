using System.Buffers;
using GroupCore.Wire;

namespace GroupCore.Groups.Dispatch;

/// <summary>A handler for messages of one type, synchronous or awaited.</summary>
internal sealed class MessageEntry<T>(string name, IPayloadSerializer serializer, Action<MemberRef, T>? handle, Func<MemberRef, T, ValueTask>? handleAsync)
    : HandlerEntry(name, typeof(T), null)
{
    public override bool IsAwaited => handleAsync is not null;

    public override ValueTask Invoke(MemberRef from, ReadOnlyMemory<byte> payload)
    {
        var message = typeof(T) == typeof(ReadOnlyMemory<byte>) ? (T)(object)payload : serializer.Deserialize<T>(payload.Span);
        if (handleAsync is not null) return handleAsync(from, message);
        handle!(from, message);
        return default;
    }

    public override ValueTask<ReplyStatus> Answer(MemberRef from, ReadOnlyMemory<byte> payload, IBufferWriter<byte> reply) =>
        throw new WrongHandlerTypeException(Name, $"is a handler of {typeof(T).Name} and answers no query");
}
