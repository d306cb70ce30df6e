namespace Ida.Ordering;

/// <summary>What an operation does to one key. The numbers are on the wire.</summary>
internal enum KeyEffect : byte
{
    /// <summary>Reads it; all keys of a get.</summary>
    Read,

    /// <summary>Replaces the value.</summary>
    Put,

    /// <summary>Removes the entry; an absent key stays as it is.</summary>
    Remove,

    /// <summary>Replaces the value by what a resolver makes of it and of the value brought.</summary>
    Merge,

    /// <summary>Changes nothing: the key only has to meet its expectation.</summary>
    Check,
}
