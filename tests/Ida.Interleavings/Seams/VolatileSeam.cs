using System.Runtime.CompilerServices;

namespace Ida.Interleavings.Seams;

/// <summary><see cref="Volatile"/>. For what is not a shared field of its type, such as an element of an array, only the order of the calls is explored.</summary>
internal static class VolatileSeam
{
    public static T Read<T>(ref readonly Shared<T> at, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Point(what, file, line);
        return Unsafe.AsRef(in at).Cell.Read();
    }

    public static void Write<T>(ref Shared<T> at, T value, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Point(what, file, line);
        at.Cell.Write(value);
    }

    public static T Read<T>(ref readonly T at, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Point(what, file, line);
        return at;
    }

    public static void Write<T>(ref T at, T value, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Point(what, file, line);
        at = value;
    }
}
