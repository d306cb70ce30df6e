using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Serialization;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// The contract of a type, found by reflection: an array of members by number, or a map of members by name, and the constructor to use.
/// </summary>
/// <remarks>
/// The rules are those of MessagePack-CSharp 3.1, so that both write the same bytes. With <c>[DataContract]</c>: the <c>[DataMember]</c>s, by
/// <c>Order</c> where it is given (array), else by <c>Name</c> or the member's name (map); never both kinds. Without: all public fields
/// and properties that can be set or that the constructor takes, without <c>[IgnoreDataMember]</c>, by name. Members of base types come
/// first, then by <c>DataMember.Order</c>, then as reflection gives them: properties before fields. The constructor is the public one
/// with the most parameters that all match members. One rule is our own: parameters of array contracts match by name, and by place only if names do not match.
/// </remarks>
internal sealed class ContractShape
{
    /// <summary>Largest <c>Order</c>; holes cost a byte each.</summary>
    private const int MaxOrder = 1023;

    internal const BindingFlags Declared = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<Type, string> s_positional = new()
    {
        [typeof(KeyValuePair<,>)] = "Key Value", [typeof(Complex)] = "Real Imaginary",
        [typeof(Vector2)] = "X Y", [typeof(Vector3)] = "X Y Z", [typeof(Vector4)] = "X Y Z W", [typeof(Quaternion)] = "X Y Z W",
        [typeof(Matrix3x2)] = "M11 M12 M21 M22 M31 M32",
        [typeof(Matrix4x4)] = "M11 M12 M13 M14 M21 M22 M23 M24 M31 M32 M33 M34 M41 M42 M43 M44",
    };

    private ContractShape(bool asArray) => AsArray = asArray;

    /// <summary>Array by <see cref="ContractMember.Order"/>, or map by <see cref="ContractMember.Key"/>.</summary>
    public bool AsArray { get; }

    /// <summary>The members in the order in which they are written.</summary>
    public ContractMember[] Members { get; private set; } = [];

    /// <summary>The constructor that takes members; null when a value starts as its default.</summary>
    public ConstructorInfo? Constructor { get; private set; }

    /// <summary>The index of the member of each parameter.</summary>
    public int[] Arguments { get; private set; } = [];

    /// <summary>Why objects cannot be part of a key, as the rest of a sentence; null when they can.</summary>
    public string? NoKey { get; private set; }

    /// <summary>The shape of a type that is written as an object.</summary>
    [RequiresUnreferencedCode("Looks at members.")]
    public static ContractShape Of(Type type, string? where)
    {
        ContractShape shape;
        List<ContractMember> members;
        if (Positional(type) is { } names)
        {
            shape = new(asArray: true);
            members = [.. names.Select((name, i) => Describe(type.GetMember(name).Single(m => m is PropertyInfo or FieldInfo), i, name)!)];
        }
        else if (type.IsDefined(typeof(DataContractAttribute), inherit: false))
        {
            members = Contracted(type, where, out bool asArray);
            shape = new(asArray);
        }
        else
        {
            shape = new(asArray: false);
            members = Contractless(type);
        }
        members = [.. members.OrderBy(m => m.Order)];
        shape.Construct(type, members, where);
        bool all = shape.AsArray || type.IsDefined(typeof(DataContractAttribute), inherit: false);
        shape.Members = [.. members.Where(m => m.Readable && (all || m.Settable || m.Constructed))];
        shape.Arguments = [.. shape.Arguments.Select(i => Array.IndexOf(shape.Members, members[i]))];
        if (shape.Members.Length == 0 && type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic).Length > 0)
            throw new ContractException(type, "has no public member that can be read and set: give it public properties, or [DataMember]s.", where);
        if (Array.Find(shape.Members, m => TypeKinds.IsOfOneProcess(m.Type)) is { } foreign)
            throw new ContractException(foreign.Type, TypeKinds.OneProcess, $"{where ?? ContractException.Name(type)}.{foreign.Info.Name}");
        if (Unwritten.Lost(type, shape.Members) is { } lost)
            throw new ContractException(type, $"holds {lost}, which would be lost: make it public with a public setter or a constructor parameter, or mark it [IgnoreDataMember].", where);
        if (!TypeKinds.IsOfBaseLibrary(type) && Unwritten.Held(type, shape.Members) is { } held)
            shape.NoKey = $"holds {held}, which is not written, so that unequal keys would have equal bytes; make it a public member, or mark it [IgnoreDataMember].";
        return shape;
    }

    private static string[]? Positional(Type type)
    {
        if (type.IsAssignableTo(typeof(ITuple)) && type.Namespace == "System")
        {
            int count = type.GetGenericArguments().Length;
            return [.. Enumerable.Range(1, count).Select(i => i == 8 ? "Rest" : $"Item{i}")];
        }
        return s_positional.TryGetValue(type.IsGenericType ? type.GetGenericTypeDefinition() : type, out string? names) ? names.Split(' ') : null;
    }

    [RequiresUnreferencedCode("Looks at members.")]
    private static List<ContractMember> Contracted(Type type, string? where, out bool asArray)
    {
        var found = new List<(ContractMember Member, bool Numbered)>();
        foreach (MemberInfo info in BaseFirst(type).SelectMany(t => t.GetProperties(Declared)).Concat<MemberInfo>(BaseFirst(type).SelectMany(t => t.GetFields(Declared))))
        {
            if (info.GetCustomAttribute<DataMemberAttribute>(inherit: true) is not { } attribute) continue;
            if (Describe(info, attribute.Order, attribute.Name ?? info.Name) is not { } member)
            {
                if (Unwritten.IsMeant(info)) continue;
                throw new ContractException(type, $"has [DataMember] at {info.Name}, which is not public.", where);
            }
            bool numbered = attribute.Order >= 0;
            if (attribute.Order > MaxOrder) throw new ContractException(type, $"has [DataMember(Order = {attribute.Order})] at {info.Name}; at most {MaxOrder} is allowed.", where);
            int same = found.FindIndex(f => numbered ? f.Member.Order == attribute.Order : f.Member.Key == member.Key);
            if (same >= 0)
            {
                // An override is the same member as the one it overrides.
                if (found[same].Member.Info.Name == info.Name && info is PropertyInfo { GetMethod.IsVirtual: true }) continue;
                throw new ContractException(type, $"has two members with the same key: {found[same].Member.Info.Name} and {info.Name}.", where);
            }
            found.Add((member, numbered));
            if (numbered != found[0].Numbered)
                throw new ContractException(type, $"mixes [DataMember]s with and without Order: {found[0].Member.Info.Name} and {info.Name}.", where);
        }
        asArray = found.Count > 0 && found[0].Numbered;
        return [.. found.Select(f => f.Member)];
    }

    [RequiresUnreferencedCode("Looks at members.")]
    private static List<ContractMember> Contractless(Type type)
    {
        var depth = BaseFirst(type).Select((t, i) => (t, i)).ToDictionary(p => p.t, p => p.i);
        var members = new List<ContractMember>();
        foreach (var named in type.GetRuntimeProperties().Concat<MemberInfo>(type.GetRuntimeFields()).OrderBy(m => depth.GetValueOrDefault(m.DeclaringType!)).GroupBy(m => m.Name))
        {
            bool first = true;
            foreach (MemberInfo info in named)
            {
                // The key of a member that hides one of a base type begins with the name of its own type.
                string key = first ? info.Name : $"{info.DeclaringType!.FullName}.{info.Name}";
                int order = info.GetCustomAttribute<DataMemberAttribute>(inherit: true)?.Order ?? int.MaxValue;
                if (Describe(info, order, key) is not { } member) continue;
                first = false;
                members.Add(member);
            }
        }
        return members;
    }

    /// <summary>A type's base types, the most basic one first, then the type itself.</summary>
    internal static List<Type> BaseFirst(Type type)
    {
        var chain = new List<Type>();
        for (Type? t = type; t is not null; t = t.BaseType) chain.Insert(0, t);
        return chain;
    }

    /// <summary>The member if it takes part: an instance property or field with public access that is not excluded.</summary>
    private static ContractMember? Describe(MemberInfo info, int order, string key)
    {
        if (info.IsDefined(typeof(IgnoreDataMemberAttribute), inherit: true)) return null;
        if (info is FieldInfo field)
        {
            return field.IsStatic || !field.IsPublic || field.IsDefined(typeof(NonSerializedAttribute)) || field.IsDefined(typeof(CompilerGeneratedAttribute))
                ? null : new(info, order, key, isReadable: true, isSettable: !field.IsInitOnly);
        }
        var property = (PropertyInfo)info;
        if (property.GetIndexParameters().Length > 0 || (property.GetMethod ?? property.SetMethod)!.IsStatic) return null;
        bool readable = property.GetMethod is { IsPublic: true }, settable = property.SetMethod is { IsPublic: true };
        return readable || settable ? new(info, order, key, readable, settable) : null;
    }

    [RequiresUnreferencedCode("Looks at constructors.")]
    private void Construct(Type type, List<ContractMember> members, string? where)
    {
        if (type.IsValueType && members.TrueForAll(m => m is { Settable: true, Info: FieldInfo })) return;
        ConstructorInfo[] constructors = [.. type.GetConstructors(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly).OrderByDescending(c => c.GetParameters().Length)];
        foreach (ConstructorInfo constructor in constructors)
        {
            ParameterInfo[] parameters = constructor.GetParameters();
            int[]? arguments = ByName(parameters, members) ?? (AsArray ? ByPlace(parameters, members) : null);
            if (arguments is null) continue;
            Constructor = constructor;
            Arguments = arguments;
            for (int i = 0; i < parameters.Length; i++)
            {
                members[arguments[i]].Constructed = true;
                if (parameters[i].HasDefaultValue) members[arguments[i]].Default = DefaultOf(parameters[i]);
            }
            return;
        }
        if (!type.IsValueType) throw new ContractException(type, "has no public constructor whose parameters all match its members by name and type.", where);
    }

    // Reflection gives the default of a nullable enum as its number.
    private static object? DefaultOf(ParameterInfo parameter) =>
        parameter.DefaultValue is { } value && Nullable.GetUnderlyingType(parameter.ParameterType) is { IsEnum: true } type ? Enum.ToObject(type, value) : parameter.DefaultValue;

    private static int[]? ByName(ParameterInfo[] parameters, List<ContractMember> members)
    {
        var arguments = new int[parameters.Length];
        for (int i = 0; i < parameters.Length; i++)
        {
            arguments[i] = members.FindIndex(m => string.Equals(m.Key, parameters[i].Name, StringComparison.OrdinalIgnoreCase));
            if (arguments[i] < 0) arguments[i] = members.FindIndex(m => string.Equals(m.Info.Name, parameters[i].Name, StringComparison.OrdinalIgnoreCase));
            if (arguments[i] < 0 || !Takes(parameters[i], members[arguments[i]])) return null;
        }
        return arguments.Distinct().Count() == arguments.Length ? arguments : null;
    }

    private static int[]? ByPlace(ParameterInfo[] parameters, List<ContractMember> members)
    {
        for (int i = 0; i < parameters.Length; i++)
            if (i >= members.Count || !Takes(parameters[i], members[i])) return null;
        return [.. Enumerable.Range(0, parameters.Length)];
    }

    private static bool Takes(ParameterInfo parameter, ContractMember member) => member.Readable
        && (parameter.ParameterType == member.Type || (!parameter.ParameterType.IsValueType && parameter.ParameterType.IsAssignableFrom(member.Type)));
}
