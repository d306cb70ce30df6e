namespace GroupCore.Transport.Sockets;

/// <summary>Stands in for the real one: the mesh has no sockets here.</summary>
internal interface ISocketPort : IDisposable;
