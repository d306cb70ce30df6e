using GroupCore.Transport;

namespace Oracle;

/// <summary>A process that holds a copy of the log: its node id and where it listens.</summary>
internal readonly record struct Replica(ulong Node, NodeAddress Address);
