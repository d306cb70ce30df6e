namespace Ida;

/// <summary>No node of the cluster answered at any seed within the time allowed.</summary>
public class ClusterUnreachableException(string message) : IOException(message);
