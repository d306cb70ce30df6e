using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Serialization;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>Builds the formatters of a type and of all that it contains; a type that contains itself gets the formatter that is being built.</summary>
[RequiresUnreferencedCode("Uses members by reflection."), RequiresDynamicCode("Makes generic types.")]
internal sealed class FormatterBuild : IFormatterSource
{
    private readonly Dictionary<Type, Formatter> _byType = [];
    private string? _path;

    public List<Formatter> Made { get; } = [];

    public Formatter<T> Get<T>(string name)
    {
        if (_byType.TryGetValue(typeof(T), out Formatter? formatter) || Formatters.TryGet(typeof(T), out formatter)) return (Formatter<T>)formatter;
        string? outer = _path;
        if (name.Length > 0 || outer is not null) _path = outer + name;
        formatter = Create(typeof(T));
        _byType.Add(typeof(T), formatter);
        Made.Add(formatter);
        _path ??= ContractException.Name(typeof(T));
        formatter.Complete(this);
        _path = outer;
        return (Formatter<T>)formatter;
    }

    private Formatter Create(Type type)
    {
        if (Scalars.Find(type) is { } scalar) return scalar;
        if (type.IsEnum) return Make(typeof(EnumFormatter<,>), type, type.GetEnumUnderlyingType());
        if (Nullable.GetUnderlyingType(type) is { } value) return Make(typeof(NullableFormatter<>), value);
        if (type.IsArray && TypeKinds.IsOfOneProcess(type.GetElementType()!)) throw new ContractException(type.GetElementType()!, TypeKinds.OneProcess, _path);
        if (Collections.Find(type) is { } collection)
            return RefusalOfCollection(type) is { } cause ? throw new ContractException(type, cause, _path) : collection;
        if (Refusal(type) is { } reason) throw new ContractException(type, reason, _path);
        ContractShape shape = ContractShape.Of(type, _path);
        return (Formatter)Activator.CreateInstance(typeof(ObjectFormatter<>).MakeGenericType(type), shape)!;
    }

    private static Formatter Make([DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] Type formatter, params Type[] types) =>
        (Formatter)Activator.CreateInstance(formatter.MakeGenericType(types))!;

    /// <summary>Why a type can never be written, as the rest of a sentence.</summary>
    private static string? Refusal(Type type) =>
        type == typeof(object) ? "can be anything, and no type names travel; declare the type of the value."
        : typeof(Delegate).IsAssignableFrom(type) ? "is code, which does not travel."
        : type.IsArray ? "has several dimensions; use an array of arrays or a flat one."
        : type.IsInterface ? "is an interface, and no type names travel; declare a class, a struct or one of the collection interfaces."
        : type.IsAbstract ? "is abstract, and no type names travel; declare a type that can be made."
        : typeof(MemberInfo).IsAssignableFrom(type) || typeof(Exception).IsAssignableFrom(type) || typeof(Task).IsAssignableFrom(type) ? "is not data."
        : TypeKinds.IsOfOneProcess(type) || type == typeof(IntPtr) || type == typeof(UIntPtr) ? TypeKinds.OneProcess
        : type.Assembly == typeof(object).Assembly && type.IsPrimitive ? "has no form in MessagePack."
        : type.IsDefined(typeof(InlineArrayAttribute)) || type.IsDefined(typeof(UnsafeValueTypeAttribute)) ? "is a buffer of several elements, and only one would be written; declare an array."
        : type.IsDefined(typeof(DataContractAttribute), inherit: false) ? null
        // Their content is not in their public members: all of it would be lost without notice.
        : type.IsAssignableTo(typeof(IEnumerable))
            ? "is a collection that cannot be made from its items; declare an array, a list or a dictionary, or mark the type [DataContract] and its members [DataMember]."
        : type.IsClass && TypeKinds.IsOfBaseLibrary(type) && !type.IsAssignableTo(typeof(ITuple)) ? "is a class of the base library with content beyond its public members; declare a type of your own with the data to send."
        : null;

    /// <summary>Why a collection that is known, or can be made from its items, is refused all the same; null when it is not.</summary>
    private static string? RefusalOfCollection(Type type) =>
        OwnOrder.SortedBy(type) is { } item && !ItemOrders.Has(item)
            ? $"is sorted by an order that {ContractException.Name(item)} does not define, so no reader could rebuild it; make it IComparable, or declare a list."
        : !TypeKinds.IsOfBaseLibrary(type) && Unwritten.Beside(type) is { } member
            ? $"is a collection: only its items are written, and {member} would be lost; declare a type that is not a collection, with the items in a member, or leave [DataMember] out."
        : null;
}
