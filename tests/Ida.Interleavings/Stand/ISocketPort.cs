namespace GroupCore.Transport.Sockets;

/// <summary>Stands for the real one: the mesh has no sockets here.</summary>
internal interface ISocketPort : IDisposable;
