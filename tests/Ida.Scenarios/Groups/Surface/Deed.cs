using System.Buffers.Binary;

namespace Ida.Scenarios;

/// <summary>What a message makes its handler do.</summary>
internal enum Deed : byte
{
    Nothing, Throw, Block, Stick, Send, OrderedSend, SendTo, Query, Flush, Leave, Dispose, Join, AnswerNull, Abort, AnswerLarge, Relay,
}

/// <summary>A message of the schedule: its number, and what one of its receivers does about it; the rest is filling.</summary>
internal readonly record struct Letter(ulong Id, Deed Deed = Deed.Nothing, int Actor = 0, int Argument = 0)
{
    public const int Size = 20;

    public byte[] Write(int size)
    {
        byte[] bytes = new byte[Math.Max(size, Size)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Id);
        bytes[8] = (byte)Deed;
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(12), Actor);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), Argument);
        return bytes;
    }

    public static Letter Read(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(bytes), (Deed)bytes[8], BinaryPrimitives.ReadInt32LittleEndian(bytes[12..]), BinaryPrimitives.ReadInt32LittleEndian(bytes[16..]));
}
