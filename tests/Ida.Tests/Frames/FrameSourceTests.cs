using GroupCore.Wire;

namespace Ida.Tests.Frames;

/// <summary>What the source of hostile frames draws.</summary>
public sealed class FrameSourceTests
{
    /// <summary>Each type that a node may have a handler for, also those of layers.</summary>
    [Fact]
    public void Frames_of_every_type_are_drawn() =>
        Assert.Empty(Enum.GetValues<FrameType>().Concat(DhtFrameNames.All.Select(static one => one.Type)).Except([FrameType.None, .. FrameSource.Types]));
}
