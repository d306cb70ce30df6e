namespace GroupCore.Diagnostics;

/// <summary>
/// Something that a part of a node says about itself in a number, declared once: the meter, <see cref="Description"/> and the table in docs/guide/operations.md are made of this.
/// </summary>
/// <param name="Name">Its name, with dots.</param>
/// <param name="Kind">How it is to be read.</param>
/// <param name="Unit">In UCUM: <c>By</c>, <c>ns</c>, <c>{call}</c>, or <c>1</c>.</param>
/// <param name="Description">What it tells.</param>
/// <param name="Read">Reads it. On any thread, at any time: of fields that are written as a whole, and without an exception.</param>
/// <param name="Tag">What tells it from others of that name, if there are others.</param>
internal sealed record StateAttribute<TSource>(
    string Name, AttributeKind Kind, string Unit, string Description, Func<TSource, long> Read, KeyValuePair<string, object?>? Tag = null);
