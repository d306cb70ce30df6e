using System.Numerics;
using System.Runtime.CompilerServices;

namespace Ida.Interleavings.Seams;

/// <summary><see cref="Interlocked"/>: a point, and a fence. For what is not a shared field of its type, such as an element of an array, only the order of the calls is explored.</summary>
internal static class InterlockedSeam
{
    public static void MemoryBarrier([CallerFilePath] string file = "", [CallerLineNumber] int line = 0) => Explored.Fence("fence", file, line);

    public static T Exchange<T>(ref Shared<T> at, T value, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Fence(what, file, line);
        return at.Cell.Exchange(value);
    }

    public static T CompareExchange<T>(ref Shared<T> at, T value, T comparand, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Fence(what, file, line);
        return at.Cell.CompareExchange(value, comparand);
    }

    public static T Add<T>(ref Shared<T> at, T value, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) where T : INumber<T>
    {
        Explored.Fence(what, file, line);
        return at.Cell.Change(before => before + value) + value;
    }

    public static T Increment<T>(ref Shared<T> at, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) where T : INumber<T> =>
        Add(ref at, T.One, what, file, line);

    public static T Decrement<T>(ref Shared<T> at, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) where T : INumber<T> =>
        Add(ref at, -T.One, what, file, line);

    public static T Exchange<T>(ref T at, T value, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Fence(what, file, line);
        (var before, at) = (at, value);
        return before;
    }

    public static T CompareExchange<T>(ref T at, T value, T comparand, [CallerArgumentExpression(nameof(at))] string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Fence(what, file, line);
        var before = at;
        if (EqualityComparer<T>.Default.Equals(before, comparand)) at = value;
        return before;
    }
}
