using System.Buffers;

namespace GroupCore.Groups.Dispatch;

/// <summary>One handler of a group: a name, the types it takes, and how to call it.</summary>
internal abstract class HandlerEntry(string name, Type message, Type? reply)
{
    public string Name { get; } = name;

    /// <summary>The number that stands for the name on the wire.</summary>
    public uint Id { get; } = IdOf(name);

    public Type Message { get; } = message;

    /// <summary>Null for handlers that do not answer.</summary>
    public Type? Reply { get; } = reply;

    /// <summary>Whether the user's handler may return before it has ended.</summary>
    public virtual bool IsAwaited => false;

    public abstract ValueTask Invoke(MemberRef from, ReadOnlyMemory<byte> payload);

    /// <summary>Answers a query; the reply is written to <paramref name="reply"/> or is null or an error.</summary>
    public abstract ValueTask<ReplyStatus> Answer(MemberRef from, ReadOnlyMemory<byte> payload, IBufferWriter<byte> reply);

    /// <summary>Names travel as 32-bit FNV-1a of their UTF-8 bytes, without a table to agree on. Two names of a group with the same number cannot both be registered.</summary>
    public static uint IdOf(string name)
    {
        uint hash = 2_166_136_261;
        foreach (byte b in System.Text.Encoding.UTF8.GetBytes(name)) hash = (hash ^ b) * 16_777_619;
        return hash;
    }
}
