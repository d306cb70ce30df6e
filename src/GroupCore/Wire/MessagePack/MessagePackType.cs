namespace GroupCore.Wire.MessagePack;

/// <summary>What the next value of a <see cref="MessagePackReader"/> is.</summary>
internal enum MessagePackType
{
    /// <summary>No value: the end of the bytes, or the byte that the format never uses (0xC1).</summary>
    None,

    /// <summary>Nil.</summary>
    Nil,

    /// <summary>True or false.</summary>
    Boolean,

    /// <summary>A whole number of any size up to 64 bits.</summary>
    Integer,

    /// <summary>A floating point number of 32 or 64 bits.</summary>
    Float,

    /// <summary>Text in UTF-8.</summary>
    String,

    /// <summary>Bytes.</summary>
    Binary,

    /// <summary>A list of values.</summary>
    Array,

    /// <summary>A list of pairs of values.</summary>
    Map,

    /// <summary>Bytes tagged with a type number; −1 is a timestamp.</summary>
    Extension,
}
