using GroupCore.Transport;

namespace Oracle.State.Operations;

/// <summary>A process comes; its incarnation is the index of this entry's log position and its place in the entry.</summary>
internal sealed record Register(ulong Node, NodeAddress Address, string Tag, string Host, int Number, long Start, bool OwnsAddress = true) : Operation;
