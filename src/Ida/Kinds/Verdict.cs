namespace Ida.Kinds;

/// <summary>Whether a put changed the entries of one shard.</summary>
internal enum Verdict : byte
{
    /// <summary>All of it.</summary>
    Applied,

    /// <summary>Nothing of it: a key did not have the version that the put expects.</summary>
    NotMet,

    /// <summary>Nothing of it: a resolver threw.</summary>
    Failed,
}
