using GroupCore.Groups;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>The layers that members of a <see cref="GroupCluster"/> may attach.</summary>
internal static class ToyLayers
{
    public static LayerFrames First { get; } = new("first", FrameType.FirstLayer, 32);

    public static LayerFrames Second { get; } = new("second", First.Last + 1, FrameType.LastLayer - First.Last);

    public static IReadOnlyList<LayerFrames> All { get; } = [Second, First];
}
