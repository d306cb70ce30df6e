namespace Ida;

/// <summary>Every seed answered, and each belongs to a cluster of another name; the message names the seeds.</summary>
public sealed class WrongClusterException(string message) : ClusterUnreachableException(message);
