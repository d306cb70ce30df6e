using System.Buffers.Binary;
using GroupCore.Basics;

namespace GroupCore.Groups.State;

/// <summary>The hash of a checkpoint, computed piece by piece: over words, not bytes, since a checkpoint may be large.</summary>
internal struct StateHash()
{
    private ulong _hash = 0xCBF29CE484222325;
    private ulong _rest;
    private int _restBytes;

    /// <summary>The hash of all that was added.</summary>
    public readonly ulong Value
    {
        get
        {
            var whole = new Fnv64();
            whole.Add(_hash);
            Span<byte> rest = stackalloc byte[8];
            BinaryPrimitives.WriteUInt64LittleEndian(rest, _rest);
            whole.Add(rest[.._restBytes]);
            return whole.Value;
        }
    }

    public void Add(ReadOnlySpan<byte> bytes)
    {
        while (_restBytes > 0 && bytes.Length > 0) bytes = AddOne(bytes);
        while (bytes.Length >= 8)
        {
            AddWord(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[8..];
        }
        while (bytes.Length > 0) bytes = AddOne(bytes);
    }

    private ReadOnlySpan<byte> AddOne(ReadOnlySpan<byte> bytes)
    {
        _rest |= (ulong)bytes[0] << (8 * _restBytes);
        if (++_restBytes == 8)
        {
            AddWord(_rest);
            (_rest, _restBytes) = (0, 0);
        }
        return bytes[1..];
    }

    private void AddWord(ulong word)
    {
        _hash = (_hash ^ word) * 0x9E3779B97F4A7C15;
        _hash ^= _hash >> 29;
    }
}
