namespace GroupCore.Diagnostics;

/// <summary>A source of attributes, and the tags that tell it from others: its node, and its group.</summary>
internal readonly record struct Measured<TSource>(TSource Source, KeyValuePair<string, object?>[] Tags);
