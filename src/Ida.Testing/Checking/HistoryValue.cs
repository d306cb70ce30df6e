using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>
/// A value of a history: absent, an element (a whole number or a text), a list of elements, or other JSON that is only compared.
/// Elements of append keys and values of put keys must be unique per key; otherwise a checker cannot tell which operation wrote which.
/// </summary>
[JsonConverter(typeof(HistoryValueConverter))]
public readonly struct HistoryValue : IEquatable<HistoryValue>
{
    private readonly object? _content;
    private readonly long _number;

    private HistoryValue(HistoryValueKind kind, object? content, long number) => (Kind, _content, _number) = (kind, content, number);

    /// <summary>The absent value, <c>null</c> in JSON; also the default.</summary>
    public static HistoryValue Absent => default;

    /// <summary>What it is.</summary>
    public HistoryValueKind Kind { get; }

    /// <summary>The whole number; 0 for other kinds.</summary>
    public long Number => _number;

    /// <summary>The text, or the JSON text of other values; empty for numbers, lists and the absent value.</summary>
    public string Text => _content as string ?? "";

    /// <summary>The elements of a list; empty for other kinds.</summary>
    public ReadOnlySpan<HistoryValue> Elements => _content as HistoryValue[];

    /// <summary>Whether it is absent.</summary>
    public bool IsAbsent => Kind == HistoryValueKind.Absent;

    /// <summary>A list. The array is kept, not copied.</summary>
    public static HistoryValue List(params HistoryValue[] elements)
    {
        ArgumentNullException.ThrowIfNull(elements);
        return new(HistoryValueKind.List, elements, 0);
    }

    /// <summary>A list of numbers.</summary>
    public static HistoryValue List(IEnumerable<long> elements) => List([.. elements.Select(FromInt64)]);

    /// <summary>A number.</summary>
    public static HistoryValue FromInt64(long number) => new(HistoryValueKind.Number, null, number);

    /// <summary>A text; <c>null</c> is the absent value.</summary>
    public static HistoryValue FromString(string? text) => text is null ? default : new(HistoryValueKind.Text, text, 0);

    /// <summary>A number.</summary>
    public static implicit operator HistoryValue(long number) => FromInt64(number);

    /// <summary>A text; <c>null</c> is the absent value.</summary>
    public static implicit operator HistoryValue(string? text) => FromString(text);

    /// <summary>Equal kind and content; lists element by element.</summary>
    public static bool operator ==(HistoryValue left, HistoryValue right) => left.Equals(right);

    /// <summary>Not equal.</summary>
    public static bool operator !=(HistoryValue left, HistoryValue right) => !left.Equals(right);

    /// <summary>Equal kind and content; lists element by element.</summary>
    public bool Equals(HistoryValue other) => Kind == other.Kind && Kind switch
    {
        HistoryValueKind.Number => _number == other._number,
        HistoryValueKind.List => Elements.SequenceEqual(other.Elements),
        _ => string.Equals(_content as string, other._content as string, StringComparison.Ordinal),
    };

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is HistoryValue other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => Kind switch
    {
        HistoryValueKind.Number => _number.GetHashCode(),
        HistoryValueKind.List => Elements.Length,
        _ => _content is string text ? string.GetHashCode(text, StringComparison.Ordinal) : 0,
    };

    /// <summary>The number, the quoted text, the list in brackets (long ones shortened), or "absent".</summary>
    public override string ToString() => Kind switch
    {
        HistoryValueKind.Absent => "absent",
        HistoryValueKind.Number => _number.ToString(System.Globalization.CultureInfo.InvariantCulture),
        HistoryValueKind.Text => $"\"{_content}\"",
        HistoryValueKind.List => ListText(),
        _ => Text,
    };

    internal static HistoryValue OtherJson(string json) => new(HistoryValueKind.Other, json, 0);

    private string ListText()
    {
        const int ends = 4;
        var all = Elements.ToArray();
        if (all.Length <= (2 * ends) + 1) return $"[{string.Join(' ', all)}]";
        return $"[{string.Join(' ', all.Take(ends))} … {string.Join(' ', all.TakeLast(ends))}] ({all.Length})";
    }
}
