namespace Ida.Testing.Calls;

/// <summary>What an error says of the call that ends with it.</summary>
internal enum ErrorMeaning
{
    /// <summary>The program asked for something impossible: the call was refused, and nothing was done.</summary>
    Misuse,

    /// <summary>It was not done, and will not be.</summary>
    NotDone,

    /// <summary>It may have been done, or may yet be.</summary>
    Perhaps,

    /// <summary>The caller's part is over, in the group, the DHT or the system.</summary>
    Over,
}
