namespace GroupCore.Wire.MessagePack;

/// <summary>A type, or a value of it, that cannot be put into MessagePack or cannot be a key; names the type, and the member where it was met.</summary>
public sealed class ContractException : NotSupportedException
{
    internal ContractException(Type type, string reason, string? member = null)
        : base(member is null ? $"{Name(type)} {reason}" : $"{member}: {Name(type)} {reason}")
    {
        Type = type;
        Reason = reason;
        Member = member;
    }

    /// <summary>The type that was refused.</summary>
    public Type Type { get; }

    /// <summary>Where the type was found, as <c>Order.Lines[].Price</c>; null when it is the type asked for.</summary>
    public string? Member { get; }

    internal string Reason { get; }

    /// <summary>A type's name as it stands in source.</summary>
    internal static string Name(Type type)
    {
        if (type.IsArray) return Name(type.GetElementType()!) + "[" + new string(',', type.GetArrayRank() - 1) + "]";
        if (!type.IsGenericType) return type.Name;
        string name = type.Name;
        int tick = name.IndexOf('`', StringComparison.Ordinal);
        return (tick < 0 ? name : name[..tick]) + "<" + string.Join(", ", type.GetGenericArguments().Select(Name)) + ">";
    }
}
