using System.Net;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <summary>Stands in for the real one.</summary>
internal sealed record TcpMeshOptions(string Cluster, ISocketPort Port, IPEndPoint Listen, IPEndPoint? Advertise, long MostQueuedBytes, int MostMalformed, int MostGuests, ulong Start);
