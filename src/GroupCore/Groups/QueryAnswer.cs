namespace GroupCore.Groups;

/// <summary>What a handler answers to a query: a value, nothing, or an error.</summary>
public readonly struct QueryAnswer<TReply>
{
    private QueryAnswer(ReplyStatus status, TReply? value, string error) => (Status, Value, Error) = (status, value, error);

    internal ReplyStatus Status { get; }

    internal TReply? Value { get; }

    internal string Error => field ?? "";

    /// <summary>No value: this member has none, and counts as answered.</summary>
    public static QueryAnswer<TReply> Null => new(ReplyStatus.Null, default, "");

    /// <summary>A value.</summary>
    public static QueryAnswer<TReply> Of(TReply value) => new(ReplyStatus.Value, value, "");

    /// <summary>An error: the caller of a query to one member, or with <see cref="Replies.All"/>, gets it as <see cref="QueryAbortedException"/>.</summary>
    public static QueryAnswer<TReply> Abort(string error) => new(ReplyStatus.Abort, default, error);

    /// <summary>A value.</summary>
    public static implicit operator QueryAnswer<TReply>(TReply value) => Of(value);
}
