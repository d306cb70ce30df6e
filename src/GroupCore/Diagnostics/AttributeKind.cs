namespace GroupCore.Diagnostics;

/// <summary>How the values of an attribute are to be read.</summary>
internal enum AttributeKind
{
    /// <summary>It only grows, while its source lives.</summary>
    Counter,

    /// <summary>It rises and falls, and may be added up over sources.</summary>
    UpDownCounter,

    /// <summary>A value of its own for each source.</summary>
    Gauge,
}
