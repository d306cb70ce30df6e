using System.Reflection;
using GroupCore.Wire;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>The frame types of the DHT with their names, for tests that have to see each.</summary>
internal static class DhtFrameNames
{
    public static IReadOnlyList<(FrameType Type, string Name)> All { get; } =
        [.. typeof(DhtFrame).GetFields(BindingFlags.Public | BindingFlags.Static).Select(static field => ((FrameType)field.GetValue(null)!, field.Name)).OrderBy(static one => one.Item1)];
}
