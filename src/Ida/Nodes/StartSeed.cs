using System.Net;

namespace Ida.Nodes;

/// <summary>An address of a seed, when a node looks for its place.</summary>
/// <param name="Address">The address.</param>
/// <param name="IsOwnName">Whether a name stands for it and it is of the loopback: then the name is this machine's.</param>
internal readonly record struct StartSeed(IPEndPoint Address, bool IsOwnName);
