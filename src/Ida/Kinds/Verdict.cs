namespace Ida.Kinds;

/// <summary>Whether a put changed the entries of one shard.</summary>
internal enum Verdict : byte
{
    /// <summary>It changed them as asked.</summary>
    Applied,

    /// <summary>It changed nothing: a key did not have the version that the put expects.</summary>
    NotMet,

    /// <summary>It changed nothing: a resolver threw.</summary>
    Failed,
}
