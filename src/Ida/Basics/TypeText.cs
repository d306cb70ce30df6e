using System.Text;

namespace Ida;

/// <summary>The name of a type without assemblies and versions: what members compare of maps and resolvers, never a name to load a type by.</summary>
internal static class TypeText
{
    public static string Of(Type type)
    {
        var text = new StringBuilder();
        Append(text, type);
        return text.ToString();
    }

    private static void Append(StringBuilder to, Type type)
    {
        // The declaring type of a nested type is open: its parameters are not types, and their arguments come with the nested type.
        if (type.IsGenericParameter) return;
        if (type.IsArray)
        {
            Append(to, type.GetElementType()!);
            to.Append('[').Append(',', type.GetArrayRank() - 1).Append(']');
            return;
        }
        if (type.IsNested) Append(to, type.DeclaringType!);
        else if (type.Namespace is { Length: > 0 } space) to.Append(space);
        if (to.Length > 0 && to[^1] is not ('<' or ',')) to.Append('.');
        int mark = type.Name.IndexOf('`', StringComparison.Ordinal);
        to.Append(mark < 0 ? type.Name : type.Name[..mark]);
        if (!type.IsGenericType) return;
        to.Append('<');
        var arguments = type.GetGenericArguments();
        for (int i = 0; i < arguments.Length; i++)
        {
            if (i > 0) to.Append(',');
            Append(to, arguments[i]);
        }
        to.Append('>');
    }
}
