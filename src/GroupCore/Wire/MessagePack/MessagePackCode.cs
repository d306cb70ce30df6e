namespace GroupCore.Wire.MessagePack;

/// <summary>First bytes of MessagePack values.</summary>
internal static class MessagePackCode
{
    public const byte MaxFixPositive = 0x7F, FixMap = 0x80, FixArray = 0x90, FixString = 0xA0;
    public const byte Nil = 0xC0, Never = 0xC1, False = 0xC2, True = 0xC3;
    public const byte Binary8 = 0xC4, Binary16 = 0xC5, Binary32 = 0xC6;
    public const byte Extension8 = 0xC7, Extension16 = 0xC8, Extension32 = 0xC9;
    public const byte Float32 = 0xCA, Float64 = 0xCB;
    public const byte UInt8 = 0xCC, UInt16 = 0xCD, UInt32 = 0xCE, UInt64 = 0xCF;
    public const byte Int8 = 0xD0, Int16 = 0xD1, Int32 = 0xD2, Int64 = 0xD3;
    public const byte FixExtension1 = 0xD4, FixExtension2 = 0xD5, FixExtension4 = 0xD6, FixExtension8 = 0xD7, FixExtension16 = 0xD8;
    public const byte String8 = 0xD9, String16 = 0xDA, String32 = 0xDB;
    public const byte Array16 = 0xDC, Array32 = 0xDD, Map16 = 0xDE, Map32 = 0xDF;
    public const byte MinFixNegative = 0xE0;

    /// <summary>Type number of the timestamp extension.</summary>
    public const sbyte Timestamp = -1;

    public static MessagePackType TypeOf(byte code) => code switch
    {
        <= MaxFixPositive or >= MinFixNegative => MessagePackType.Integer,
        < FixArray => MessagePackType.Map,
        < FixString => MessagePackType.Array,
        < Nil => MessagePackType.String,
        Nil => MessagePackType.Nil,
        Never => MessagePackType.None,
        False or True => MessagePackType.Boolean,
        <= Binary32 => MessagePackType.Binary,
        <= Extension32 => MessagePackType.Extension,
        <= Float64 => MessagePackType.Float,
        <= Int64 => MessagePackType.Integer,
        <= FixExtension16 => MessagePackType.Extension,
        <= String32 => MessagePackType.String,
        <= Array32 => MessagePackType.Array,
        _ => MessagePackType.Map,
    };
}
