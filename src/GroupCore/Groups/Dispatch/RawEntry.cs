using System.Buffers;

namespace GroupCore.Groups.Dispatch;

/// <summary>A handler for bytes as they came: nothing is allocated per message.</summary>
internal sealed class RawEntry(string name, Action<MemberRef, ReadOnlyMemory<byte>> handle) : HandlerEntry(name, typeof(ReadOnlyMemory<byte>), null)
{
    public override ValueTask Invoke(MemberRef from, ReadOnlyMemory<byte> payload)
    {
        handle(from, payload);
        return default;
    }

    public override ValueTask<ReplyStatus> Answer(MemberRef from, ReadOnlyMemory<byte> payload, IBufferWriter<byte> reply) =>
        throw new WrongHandlerTypeException(Name, "is a handler of bytes and answers no query");
}
