using Ida.Campaign;

namespace Ida.Process.Tests.Campaign;

/// <summary>A campaign of few frames sends them all, and a campaign that ran nothing has not passed.</summary>
public sealed class FrameCampaignTests
{
    [Theory]
    [InlineData("1", 1)]
    [InlineData("2", 1)]
    [InlineData("3", 2)]
    public void No_port_is_left_out_however_few_the_frames_are(string frames, long share)
    {
        Assert.True(FrameCampaign.TryParse(null, frames, null, null, null, null, null, out var campaign, out string error), error);
        Assert.Equal(OperatingSystem.IsLinux() ? share : long.Parse(frames), campaign.Share);
    }

    [Fact]
    public async Task One_frame_is_sent_through_each_port()
    {
        Assert.True(FrameCampaign.TryParse(null, "1", null, null, null, null, null, out var campaign, out string error), error);
        Assert.Equal((campaign.Ports.Count, 0), await campaign.RunAsync(TestContext.Current.CancellationToken));
    }

    [Theory]
    [InlineData(0, 0, false)]
    [InlineData(1, 0, true)]
    [InlineData(1, 1, false)]
    [InlineData(0, 1, false)]
    public void What_ran_nothing_has_not_passed(long passed, long failed, bool isPassed) => Assert.Equal(isPassed, Program.IsPassed(passed, failed));
}
