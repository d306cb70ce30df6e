using Ida.Wire;

namespace Ida.Messages;

/// <summary>Writes the values of an answer that waited, as its frame has them.</summary>
internal delegate void DueValues(ref BodyWriter to, (byte[]? Value, ulong Version)[] values);
