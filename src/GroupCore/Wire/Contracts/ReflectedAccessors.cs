using System.Diagnostics.CodeAnalysis;
using System.Reflection;

namespace GroupCore.Wire.Contracts;

/// <summary>Access to members and constructors by plain reflection, with boxes: for runtimes that cannot generate code.</summary>
internal static class ReflectedAccessors
{
    [RequiresUnreferencedCode("Uses members by reflection.")]
    public static Getter<TOwner, TMember> Getter<TOwner, TMember>(MemberInfo member) => member is PropertyInfo property
        ? (ref owner) => (TMember)property.GetValue(owner)!
        : (ref owner) => (TMember)((FieldInfo)member).GetValue(owner)!;

    [RequiresUnreferencedCode("Uses members by reflection.")]
    public static Setter<TOwner, TMember> Setter<TOwner, TMember>(MemberInfo member) => (ref owner, value) =>
    {
        object box = owner!;
        if (member is PropertyInfo property) property.SetValue(box, value);
        else ((FieldInfo)member).SetValue(box, value);
        owner = (TOwner)box;
    };

    [RequiresUnreferencedCode("Uses constructors by reflection.")]
    public static Func<Holder[], T> Constructor<T>(ConstructorInfo constructor, int[] arguments) =>
        holders => (T)constructor.Invoke([.. arguments.Select(i => holders[i].Boxed)]);
}
