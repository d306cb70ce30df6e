namespace GroupCore.Transport.Sockets;

/// <summary>The process or the system has no descriptor left (EMFILE, ENFILE): closing one helps. No other failure is thrown as this type.</summary>
internal sealed class NoDescriptorException(string message, Exception? inner = null) : IOException(message, inner);
