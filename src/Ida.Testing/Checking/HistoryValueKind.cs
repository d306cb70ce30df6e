namespace Ida.Testing.Checking;

/// <summary>Kinds of <see cref="HistoryValue"/>.</summary>
public enum HistoryValueKind
{
    /// <summary>No value: the key is absent.</summary>
    Absent,

    /// <summary>A whole number of 64 bits.</summary>
    Number,

    /// <summary>A text.</summary>
    Text,

    /// <summary>A list of elements.</summary>
    List,

    /// <summary>Other JSON, compared by its text.</summary>
    Other,
}
