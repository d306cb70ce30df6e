namespace GroupCore.Wire.MessagePack;

/// <content>The readers that throw, for payloads.</content>
internal ref partial struct MessagePackReader
{
    /// <summary>Reads true or false.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public bool ReadBoolean() => TryReadBoolean(out bool value) ? value : throw Unexpected("true or false");

    /// <summary>Reads a whole number.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public long ReadInt64() => TryReadInt64(out long value) ? value : throw Unexpected("a signed 64-bit integer");

    /// <summary>Reads a whole number that is not negative.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public ulong ReadUInt64() => TryReadUInt64(out ulong value) ? value : throw Unexpected("an unsigned 64-bit integer");

    /// <summary>Reads a whole number of 32 bits.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public int ReadInt32() => TryReadInt32(out int value) ? value : throw Unexpected("a signed 32-bit integer");

    /// <summary>Reads a whole number from <paramref name="min"/> to <paramref name="max"/>, both included.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public long ReadWithin(long min, long max) => TryReadWithin(min, max, out long value) ? value : throw Unexpected($"an integer from {min} to {max}");

    /// <summary>Reads a number as floating point of 64 bits.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public double ReadDouble() => TryReadDouble(out double value) ? value : throw Unexpected("a number");

    /// <summary>Reads a number as floating point of 32 bits, rounding a wider one.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public float ReadSingle() => TryReadSingle(out float value) ? value : throw Unexpected("a number");

    /// <summary>Reads text.</summary>
    /// <exception cref="InvalidDataException">The next value is something else, or not valid UTF-8.</exception>
    public string ReadString() => TryReadString(out string? value) ? value : throw Unexpected("text in UTF-8");

    /// <summary>Reads text as the bytes of its UTF-8 form, unchecked.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public ReadOnlySpan<byte> ReadUtf8() => TryReadUtf8(out var value) ? value : throw Unexpected("text");

    /// <summary>Reads bytes in place.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public ReadOnlySpan<byte> ReadBinary() => TryReadBinary(out var value) ? value : throw Unexpected("bytes");

    /// <summary>Reads the count of an array.</summary>
    /// <exception cref="InvalidDataException">The next value is something else, or longer than the bytes at hand.</exception>
    public int ReadArrayHeader() => TryReadArrayHeader(out int count) ? count : throw Unexpected("an array");

    /// <summary>Reads the count of pairs of a map.</summary>
    /// <exception cref="InvalidDataException">The next value is something else, or longer than the bytes at hand.</exception>
    public int ReadMapHeader() => TryReadMapHeader(out int count) ? count : throw Unexpected("a map");

    /// <summary>Reads a point in time: seconds since 1970 UTC, and nanoseconds of the second.</summary>
    /// <exception cref="InvalidDataException">The next value is something else.</exception>
    public (long Seconds, int Nanoseconds) ReadTimestamp() =>
        TryReadTimestamp(out long seconds, out int nanoseconds) ? (seconds, nanoseconds) : throw Unexpected("a timestamp");

    /// <summary>Passes over the next value.</summary>
    /// <exception cref="InvalidDataException">It is cut off or nested too deep.</exception>
    public void Skip()
    {
        if (!TrySkip()) throw Unexpected("a value");
    }

    /// <summary>Goes one level deeper; <see cref="Leave"/> goes back.</summary>
    /// <exception cref="InvalidDataException">Nested more than <see cref="MaxDepth"/> deep.</exception>
    public void Enter()
    {
        if (!TryEnter()) throw new InvalidDataException($"Values are nested more than {MaxDepth} deep at byte {_at}.");
    }

    /// <summary>The exception for a next value that is not <paramref name="expected"/> (a noun with its article).</summary>
    public readonly InvalidDataException Unexpected(string expected) => new(
        AtEnd ? $"Expected {expected} at byte {_at}, but the bytes end there."
        : NextType == MessagePackType.None ? $"Expected {expected} at byte {_at}, found 0xC1, which is no value."
        : $"Expected {expected} at byte {_at} of {_bytes.Length}, found {NextType} (0x{_bytes[_at]:X2}) that is cut off, too deep, out of range or of the wrong type.");
}
