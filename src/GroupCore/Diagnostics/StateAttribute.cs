namespace GroupCore.Diagnostics;

/// <summary>
/// A number that a part of a node says about itself, declared once: the meter, <see cref="Description"/> and the table in docs/guide/operations.md are made from it.
/// </summary>
/// <param name="Name">Its name, with dots.</param>
/// <param name="Kind">How it is to be read.</param>
/// <param name="Unit">In UCUM: <c>By</c>, <c>ns</c>, <c>{call}</c>, or <c>1</c>.</param>
/// <param name="Description">What it tells.</param>
/// <param name="Read">Reads it, on any thread and at any time: it reads only fields that are written atomically, and never throws.</param>
/// <param name="Tag">What distinguishes it from others of the same name, if there are any.</param>
internal sealed record StateAttribute<TSource>(
    string Name, AttributeKind Kind, string Unit, string Description, Func<TSource, long> Read, KeyValuePair<string, object?>? Tag = null);
