using GroupCore.Transport.Mesh;

namespace Ida.Testing;

/// <summary>What a node keeps while it lives, for checks of what is left over.</summary>
/// <param name="Commands">Commands whose callers wait for room.</param>
/// <param name="Timers">Timers of its protocols.</param>
/// <param name="LinkTimers">Timers of its links.</param>
/// <param name="Sockets">Sockets of its connections; null over links in memory.</param>
/// <param name="Links">Its links that are not over.</param>
/// <param name="Unacknowledged">Bytes that the node counts as unacknowledged.</param>
/// <param name="CallBytes">Bytes that the node counts for calls that wait.</param>
/// <param name="Slabs">Bytes of slabs.</param>
/// <param name="Encoding">Bytes of slabs that the encoding of frames has.</param>
internal sealed record KeptState(int Commands, int Timers, int LinkTimers, int? Sockets, IReadOnlyList<LinkUse> Links, long Unacknowledged, long CallBytes, long Slabs, long Encoding);
