namespace GroupCore.Transport.Sockets;

/// <summary>The process, or the system, has no descriptor left (EMFILE, ENFILE): one that is given back helps. Nothing else that fails is this.</summary>
internal sealed class NoDescriptorException(string message, Exception? inner = null) : IOException(message, inner);
