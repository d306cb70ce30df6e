using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Serialization;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// Finds content of a type that its contract does not carry: values would come back without it, and keys that differ in nothing else would be equal. A type that
/// intends this says so by <c>[IgnoreDataMember]</c> or <c>[NonSerialized]</c>.
/// </summary>
internal static class Unwritten
{
    private const BindingFlags Declared = ContractShape.Declared;

    /// <summary>Whether an attribute says that a member is not to be written.</summary>
    public static bool IsMeant(MemberInfo info) => info.IsDefined(typeof(IgnoreDataMemberAttribute))
        || (info is FieldInfo field && field.IsDefined(typeof(NonSerializedAttribute)))
        || (info is PropertyInfo property && StorageOf(property)?.IsDefined(typeof(NonSerializedAttribute)) == true);

    /// <summary>
    /// The name of a member that keeps a value and is public or has <c>[DataMember]</c>, but is not written or not set when it is read; null for none. A computed
    /// property without a setter keeps no value. In a type with <c>[DataContract]</c> only members with <c>[DataMember]</c> count.
    /// </summary>
    [RequiresUnreferencedCode("Looks at members.")]
    public static string? Lost(Type type, ContractMember[] members)
    {
        bool named = type.IsDefined(typeof(DataContractAttribute), inherit: false);
        foreach (MemberInfo info in ContractShape.BaseFirst(type).SelectMany(t => t.GetProperties(Declared).Concat<MemberInfo>(t.GetFields(Declared))))
        {
            bool isSaid = info.GetCustomAttribute<DataMemberAttribute>(inherit: true) is not null;
            if (isSaid || (!named && IsPublic(info)))
                if (Keeps(info) && !IsMeant(type, info) && !Array.Exists(members, m => IsSet(m) && IsSame(m.Info, info))) return info.Name;
        }
        return null;
    }

    /// <summary>The name of a field of an object or its bases, public or not, whose content is not written; null for none.</summary>
    [RequiresUnreferencedCode("Looks at members.")]
    public static string? Held(Type type, ContractMember[] members)
    {
        foreach (FieldInfo field in ContractShape.BaseFirst(type).SelectMany(t => t.GetFields(Declared)))
        {
            if (IsMeant(field) || Array.Exists(members, m => IsSet(m) && Carries(m.Info, field))) continue;
            string name = NameOf(field);
            if (IsOfProperty(field) && field.DeclaringType!.GetProperty(name, Declared) is { } property && IsMeant(type, property)) continue;
            return field.Name[0] == '<' ? name : field.Name;
        }
        return null;
    }

    /// <summary>The name of a member of a collection that has a <c>[DataMember]</c>, though only the items are written; null for none.</summary>
    [RequiresUnreferencedCode("Looks at members.")]
    public static string? Beside(Type collection) => ContractShape.BaseFirst(collection).SelectMany(t => t.GetMembers(Declared))
        .FirstOrDefault(m => m.GetCustomAttribute<DataMemberAttribute>(inherit: true) is not null)?.Name;

    // A derived type may also say so, by a property that overrides or hides this one.
    [RequiresUnreferencedCode("Looks at members.")]
    private static bool IsMeant(Type type, MemberInfo info) => IsMeant(info) || (info is PropertyInfo && ContractShape.BaseFirst(type)
        .Where(t => t.IsSubclassOf(info.DeclaringType!)).SelectMany(t => t.GetProperties(Declared)).Any(p => p.Name == info.Name && IsMeant(p)));

    private static bool IsSet(ContractMember member) => member.Settable || member.Constructed;

    private static bool IsPublic(MemberInfo info) => info is PropertyInfo property
        ? property.GetMethod is { IsPublic: true } || property.SetMethod is { IsPublic: true }
        : info is FieldInfo { IsPublic: true } && !info.IsDefined(typeof(CompilerGeneratedAttribute));

    // If getter and setter differ in visibility, there is something to set.
    private static bool Keeps(MemberInfo info) => info is not PropertyInfo property
        || (property.GetIndexParameters().Length == 0
            && (StorageOf(property) is not null || (property is { GetMethod: { } get, SetMethod: { } set } && get.IsPublic != set.IsPublic)));

    // An override is the same member as the one it overrides. A property that hides another and has no storage itself gives access to the hidden one.
    private static bool IsSame(MemberInfo written, MemberInfo info) => written.HasSameMetadataDefinitionAs(info)
        || (written is PropertyInfo one && info is PropertyInfo other && one.Name == other.Name && (BeginOf(one) == BeginOf(other) || StorageOf(one) is null));

    private static bool Carries(MemberInfo written, FieldInfo field)
    {
        if (written is not PropertyInfo property) return written.HasSameMetadataDefinitionAs(field);
        if (!BeginOf(property)!.IsAssignableFrom(field.DeclaringType)) return false;
        if (IsOfProperty(field)) return NameOf(field) == property.Name;
        // The field of a property written by hand, or made by another compiler, is recognised by its name.
        return StorageOf(property) is null && string.Equals(NameOf(field), property.Name, StringComparison.OrdinalIgnoreCase);
    }

    private static Type? BeginOf(PropertyInfo property) => (property.GetMethod ?? property.SetMethod)!.GetBaseDefinition().DeclaringType;

    [UnconditionalSuppressMessage("Trimming", "IL2075", Justification = "The field of a property is kept with it.")]
    private static FieldInfo? StorageOf(PropertyInfo property) => property.DeclaringType!.GetField($"<{property.Name}>k__BackingField", Declared);

    private static bool IsOfProperty(FieldInfo field) => field.Name.EndsWith(">k__BackingField", StringComparison.Ordinal);

    // "<Name>k__BackingField" of a property, "<name>P" of a constructor's parameter that methods use, "_name", "m_name", "Name@".
    private static string NameOf(FieldInfo field)
    {
        string name = field.Name;
        if (name[0] == '<') return name[1..name.LastIndexOf('>')];
        return (name.StartsWith("m_", StringComparison.Ordinal) ? name[2..] : name).Trim('_', '@');
    }
}
