using System.Reflection;

namespace GroupCore.Wire.Contracts;

/// <summary>A member as its type's contract describes it: its place (array) or key (map), and whether reading sets it.</summary>
internal sealed class ContractMember(MemberInfo info, int order, string key, bool isReadable, bool isSettable)
{
    public MemberInfo Info { get; } = info;

    public Type Type { get; } = info is PropertyInfo property ? property.PropertyType : ((FieldInfo)info).FieldType;

    /// <summary>Place in the array, or sorting weight in the map.</summary>
    public int Order { get; } = order;

    public string Key { get; } = key;

    public bool Readable { get; } = isReadable;

    /// <summary>Whether it has a public setter.</summary>
    public bool Settable { get; } = isSettable;

    /// <summary>Whether the constructor takes it.</summary>
    public bool Constructed { get; set; }

    /// <summary>Whether reading sets it after construction.</summary>
    public bool Writable => Settable && !Constructed;

    /// <summary>The value of a member that the message lacks: the default of the constructor's parameter.</summary>
    public object? Default { get; set; }
}
