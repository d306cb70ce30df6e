using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>All formatters built so far, by type.</summary>
internal static class Formatters
{
    private static readonly ConcurrentDictionary<Type, Formatter> s_built = new();

    /// <summary>The formatter of a type, built at its first use.</summary>
    /// <exception cref="ContractException">The type, or one it contains, cannot be written.</exception>
    public static Formatter<T> Of<T>() => Slot<T>.Formatter ?? Build<T>();

    public static bool TryGet(Type type, [NotNullWhen(true)] out Formatter? formatter) => s_built.TryGetValue(type, out formatter);

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification =
        "Each type that travels is registered first, by a call that demands its members (TrimmedContracts). Types inside it cannot be demanded there: the guide tells applications that "
        + "are trimmed to keep the assembly of their messages whole, or to give the node an IPayloadSerializer made by a generator.")]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification =
        "Without dynamic code, generic instantiations over value types that the application does not use itself throw at the first use of the type, before anything is "
        + "sent; such applications give the node an IPayloadSerializer made by a generator.")]
    private static Formatter<T> Build<T>()
    {
        var build = new FormatterBuild();
        Formatter<T> formatter = build.Get<T>("");
        foreach (Formatter made in build.Made) s_built.TryAdd(made.Type, made);
        return Slot<T>.Formatter = formatter;
    }

    private static class Slot<T>
    {
        public static Formatter<T>? Formatter;
    }
}
