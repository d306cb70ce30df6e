using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Ida.Testing.Tests.PublicApi;

/// <summary>
/// The public surface of an assembly as text, one sorted line per type and member: everything that a caller can name, with parameters and their defaults, accessors,
/// constants, modifiers that change what a caller may do, and nullable annotations of references (not of type parameters). Members that the compiler adds to every record are
/// left out.
/// </summary>
internal static class ApiText
{
    private const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly NullabilityInfoContext s_nullability = new();

    private static readonly Dictionary<Type, string> s_keywords = new()
    {
        [typeof(void)] = "void", [typeof(object)] = "object", [typeof(string)] = "string", [typeof(bool)] = "bool", [typeof(char)] = "char",
        [typeof(byte)] = "byte", [typeof(sbyte)] = "sbyte", [typeof(short)] = "short", [typeof(ushort)] = "ushort", [typeof(int)] = "int", [typeof(uint)] = "uint",
        [typeof(long)] = "long", [typeof(ulong)] = "ulong", [typeof(float)] = "float", [typeof(double)] = "double", [typeof(decimal)] = "decimal",
    };

    public static string Of(Assembly assembly)
    {
        var text = new StringBuilder();
        foreach (Type type in assembly.GetTypes().Where(IsVisible).OrderBy(Name, StringComparer.Ordinal))
        {
            text.Append(Describe(type)).Append('\n');
            IEnumerable<string> members = type.IsEnum
                ? type.GetFields(BindingFlags.Public | BindingFlags.Static).Select(f => $"{f.Name} = {Convert.ToString(f.GetRawConstantValue(), CultureInfo.InvariantCulture)}")
                : typeof(Delegate).IsAssignableFrom(type) ? []
                : type.GetMembers(All).Where(m => m is PropertyInfo or EventInfo || !m.IsDefined(typeof(CompilerGeneratedAttribute))).Select(Describe).OfType<string>();
            foreach (string member in members.Order(StringComparer.Ordinal)) text.Append("    ").Append(Name(type)).Append(": ").Append(member).Append('\n');
        }
        return text.ToString();
    }

    private static bool IsVisible(Type type) => type.IsNested
        ? (type.IsNestedPublic || type.IsNestedFamily || type.IsNestedFamORAssem) && IsVisible(type.DeclaringType!)
        : type.IsPublic;

    private static bool IsVisible(MethodBase? method) => method is { IsPublic: true } or { IsFamily: true } or { IsFamilyOrAssembly: true };

    private static string Describe(Type type)
    {
        string name = Name(type);
        if (typeof(Delegate).IsAssignableFrom(type))
        {
            MethodInfo invoke = type.GetMethod("Invoke")!;
            return $"delegate {name}({Parameters(invoke)}) : {Name(invoke.ReturnParameter)}";
        }
        string record = type.GetMethod("<Clone>$") is not null || type.GetMethod("PrintMembers", All)?.IsDefined(typeof(CompilerGeneratedAttribute)) == true ? "record " : "";
        string kind = type.IsEnum ? $"enum {name} : {Name(type.GetEnumUnderlyingType())}"
            : type.IsInterface ? $"interface {name}"
            : type.IsValueType ? $"{(type.IsDefined(typeof(IsReadOnlyAttribute)) ? "readonly " : "")}{(type.IsByRefLike ? "ref " : "")}{record}struct {name}"
            : $"{(type is { IsAbstract: true, IsSealed: true } ? "static " : type.IsAbstract ? "abstract " : type.IsSealed ? "sealed " : "")}{record}class {name}";
        if (type.IsEnum) return kind;
        List<string> parents = [];
        if (type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType)) parents.Add(Name(parent));
        parents.AddRange(type.GetInterfaces().Where(i => i.IsVisible).Select(Name).Order(StringComparer.Ordinal));
        return kind + (parents.Count > 0 ? " : " + string.Join(", ", parents) : "") + Constraints(type.GetGenericArguments());
    }

    private static string? Describe(MemberInfo member) => member switch
    {
        ConstructorInfo c when !c.IsStatic && IsVisible(c) => $"{(c.IsPublic ? "" : "protected ")}new({Parameters(c)})",
        FieldInfo f when f.IsPublic || f.IsFamily || f.IsFamilyOrAssembly => Field(f),
        PropertyInfo p => Property(p),
        EventInfo e when IsVisible(e.AddMethod) => $"{Modifiers(e.AddMethod!)}event {e.Name} : {Name(e.EventHandlerType!)}",
        MethodInfo m when IsVisible(m) && (!m.IsSpecialName || m.Name.StartsWith("op_", StringComparison.Ordinal)) => Method(m),
        _ => null,
    };

    private static string Field(FieldInfo field) =>
        $"{(field.IsLiteral ? "const " : field.IsStatic ? "static " : "")}{(field.IsInitOnly ? "readonly " : "")}{field.Name} : {Name(field)}"
        + (field.IsLiteral ? " = " + Constant(field.GetRawConstantValue()) : "");

    private static string? Property(PropertyInfo property)
    {
        MethodInfo? get = IsVisible(property.GetMethod) ? property.GetMethod : null, set = IsVisible(property.SetMethod) ? property.SetMethod : null;
        if (get is null && set is null) return null;
        bool init = set is not null && set.ReturnParameter.GetRequiredCustomModifiers().Contains(typeof(IsExternalInit));
        ParameterInfo[] index = property.GetIndexParameters();
        return $"{(property.IsDefined(typeof(RequiredMemberAttribute)) ? "required " : "")}{Modifiers((get ?? set)!)}{property.Name}"
            + (index.Length > 0 ? $"[{string.Join(", ", index.Select(p => Name(p)))}]" : "")
            + $" {{{(get is null ? "" : " get;")}{(set is null ? "" : init ? " init;" : " set;")} }} : {Name(property)}";
    }

    private static string Method(MethodInfo method) =>
        $"{Modifiers(method)}{method.Name}{Generics(method.GetGenericArguments())}({Parameters(method)}) : {(method.ReturnType.IsByRef ? "ref " : "")}{Name(method.ReturnParameter)}{Constraints(method.GetGenericArguments())}";

    private static string Modifiers(MethodBase method) =>
        (method.IsPublic ? "" : "protected ") + (method.IsStatic ? "static " : "")
        + (method is not MethodInfo { IsVirtual: true, IsFinal: false } open || method.DeclaringType!.IsInterface ? ""
            : open.GetBaseDefinition() != open ? "override " : open.IsAbstract ? "abstract " : "virtual ");

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(p =>
        (p.IsDefined(typeof(ParamArrayAttribute)) || p.IsDefined(typeof(ParamCollectionAttribute)) ? "params " : "")
        + (p.IsOut ? "out " : p.IsIn ? "in " : p.ParameterType.IsByRef ? "ref " : "") + $"{Name(p)} {p.Name}"
        + (p.HasDefaultValue ? " = " + Constant(p.DefaultValue) : "")));

    private static string Constant(object? value) => value switch
    {
        null => "default",
        string text => "\"" + text + "\"",
        bool flag => flag ? "true" : "false",
        Enum => $"{Name(value.GetType())}.{value}",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture) ?? "",
    };

    private static string Constraints(Type[] arguments) => string.Concat(arguments.Where(a => a.IsGenericParameter).Select(a =>
    {
        GenericParameterAttributes special = a.GenericParameterAttributes;
        List<string> needs = [];
        if (special.HasFlag(GenericParameterAttributes.ReferenceTypeConstraint)) needs.Add("class");
        if (special.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint)) needs.Add("struct");
        needs.AddRange(a.GetGenericParameterConstraints().Where(c => c != typeof(ValueType)).Select(Name));
        if (special.HasFlag(GenericParameterAttributes.DefaultConstructorConstraint) && !special.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint)) needs.Add("new()");
        return needs.Count > 0 ? $" where {a.Name} : {string.Join(", ", needs)}" : "";
    }));

    private static string Name(ParameterInfo parameter)
    {
        try
        {
            return Name(parameter.ParameterType, s_nullability.Create(parameter));
        }
        catch (IndexOutOfRangeException)
        {
            // The runtime's reflection fails on some generic by-reference types; these have no annotations.
            return Name(parameter.ParameterType);
        }
    }

    private static string Name(PropertyInfo property) => Name(property.PropertyType, s_nullability.Create(property));

    private static string Name(FieldInfo field) => Name(field.FieldType, s_nullability.Create(field));

    private static string Name(Type type, NullabilityInfo info)
    {
        if (type.IsByRef) return Name(type.GetElementType()!, info);
        string mark = type is { IsValueType: false, IsGenericParameter: false } && (info.ReadState == NullabilityState.Nullable || info.WriteState == NullabilityState.Nullable) ? "?" : "";
        if (type.IsArray && info.ElementType is not null) return Name(type.GetElementType()!, info.ElementType) + "[" + new string(',', type.GetArrayRank() - 1) + "]" + mark;
        if (Nullable.GetUnderlyingType(type) is { } value) return Name(value) + "?";
        if (!type.IsGenericType || info.GenericTypeArguments.Length != type.GetGenericArguments().Length) return Name(type) + mark;
        return Plain(type) + "<" + string.Join(", ", type.GetGenericArguments().Zip(info.GenericTypeArguments, Name)) + ">" + mark;
    }

    private static string Name(Type type)
    {
        if (type.IsByRef) return Name(type.GetElementType()!);
        if (type.IsPointer) return Name(type.GetElementType()!) + "*";
        if (type.IsArray) return Name(type.GetElementType()!) + "[" + new string(',', type.GetArrayRank() - 1) + "]";
        if (Nullable.GetUnderlyingType(type) is { } value) return Name(value) + "?";
        return Plain(type) + Generics(type.GetGenericArguments());
    }

    private static string Generics(Type[] arguments) => arguments.Length == 0 ? "" : "<" + string.Join(", ", arguments.Select(Name)) + ">";

    private static string Plain(Type type)
    {
        if (type.IsGenericParameter) return type.Name;
        if (s_keywords.TryGetValue(type, out string? keyword)) return keyword;
        var text = new StringBuilder(type.FullName ?? $"{type.Namespace}.{type.Name}");
        int arguments = text.ToString().IndexOf('[', StringComparison.Ordinal);
        if (arguments >= 0) text.Length = arguments;
        string name = text.Replace('+', '.').ToString();
        int tick = name.IndexOf('`', StringComparison.Ordinal);
        return tick < 0 ? name : name[..tick];
    }
}
