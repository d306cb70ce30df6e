using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle;

/// <summary>
/// The body of a frame of the Oracle: a MessagePack array that begins with the system id; fields are only ever appended, and a reader
/// skips fields that it does not know.
/// </summary>
internal interface IFrame
{
    FrameType Type { get; }

    /// <summary>Number of values that <see cref="Write"/> writes.</summary>
    int Fields { get; }

    void Write(ref MessagePackWriter writer);
}
