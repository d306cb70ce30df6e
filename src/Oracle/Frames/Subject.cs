using GroupCore.Membership;
using GroupCore.Transport;

namespace Oracle.Frames;

/// <summary>A process to watch. Number and start are set when it runs on the watcher's host, else 0.</summary>
internal sealed record Subject(ProcessId Id, NodeAddress Address, int Number, long Start);
