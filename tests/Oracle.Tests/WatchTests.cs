using GroupCore.Membership;
using Oracle.Client;
using Oracle.Detection;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>
/// What a process reports about others after its clock has jumped (failure-detection.md#a-jump-of-the-clock-proves-nothing). Process 1 watches 3, and reports to the replica
/// 2.
/// </summary>
public sealed class WatchTests
{
    private readonly LogBus _bus = new();
    private readonly TellingLinks _links = new();
    private readonly FailureDetector _watch;

    public WatchTests()
    {
        var node = new LogBus.Part(_bus, 1, _links);
        var directory = new OracleDirectory(node);
        directory.Learn(new([LogBus.ReplicaOf(2)], []));
        var sender = new FrameSender(node);
        _watch = new(node, new(), sender, directory, new(node, sender, directory));
    }

    /// <summary>The process may have missed frames that others received. It reports its suspicion as soon as a question sent after the jump is answered.</summary>
    [Fact]
    public void A_process_that_doubts_itself_suspects_no_other_until_the_doubt_is_over()
    {
        _watch.Doubt();
        _watch.Suspect(new(3, 3), Suspicion.FlushStall);
        Step(10);
        Assert.Empty(_links.Told);
        _watch.Trust();
        Step(1);
        Assert.Equal([2], _links.Told);
    }

    /// <summary>Three of four rounds failed, then the process itself was stopped. Rounds begin anew, and last longer.</summary>
    [Fact]
    public void Rounds_that_failed_before_a_jump_are_forgotten()
    {
        _watch.Assign([new(new(3, 3), LogBus.ReplicaOf(3).Address, 0, 0)]);
        Step(8);
        _watch.Doubt();
        _watch.Trust();
        Step(12);
        Assert.DoesNotContain(2, _links.Told);
        Step(40);
        Assert.Contains(2, _links.Told);
    }

    private void Step(int ticks)
    {
        for (int tick = 0; tick < ticks; tick++)
        {
            _bus.Pass(LocalHealth.TickEvery);
            _watch.Step();
        }
    }
}
