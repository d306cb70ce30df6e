using Ida.Perf.Macro.CommandLine;

namespace Ida.Perf.Tests;

public sealed class RunOptionsTests
{
    private static RunOptions Parse(string line) => RunOptions.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries));

    [Theory]
    [InlineData("", "command must be one of")]
    [InlineData("bench", "command must be one of")]
    [InlineData("kv --noise 1", "unknown option --noise for 'kv'")]
    [InlineData("multicast --mix get", "unknown option --mix")]
    [InlineData("multikey --inflight 4", "unknown option --inflight")]
    [InlineData("kv --nodes", "expected --name value at '--nodes'")]
    [InlineData("kv nodes 4", "expected --name value at 'nodes'")]
    [InlineData("kv --nodes 4 --nodes 4", "--nodes is given twice")]
    [InlineData("kv --nodes five", "--nodes must be a whole number from 1 to 64, not 'five'")]
    [InlineData("kv --nodes -4", "--nodes must be a whole number")]
    [InlineData("kv --mix half", "--mix must be one of mixed95|mixed50|get|put")]
    [InlineData("kv --calls blocking --inflight 2", "--calls blocking goes with --inflight 1")]
    [InlineData("multikey --keys-by zipf", "unknown option --keys-by")]
    [InlineData("kv --nodes 5", "must be a multiple of --backups + 1")]
    [InlineData("kv --nodes 4 --backups 2", "must be a multiple of --backups + 1")]
    [InlineData("failover --nodes 4", "must be a multiple of --backups + 1")]
    [InlineData("failover --detection 399", "--detection must be a whole number from 400")]
    [InlineData("kv --detection 2000", "unknown option --detection")]
    [InlineData("memory --keyspace 1999", "--keyspace must be at least 2000")]
    [InlineData("join --nodes 2 --backups 0", "--nodes is too small")]
    [InlineData("multicast --size 15", "--size must be a whole number from 16")]
    [InlineData("multicast --senders 4", "--senders must be a whole number from 1 to 3")]
    [InlineData("multicast --sender-index 3", "--sender-index must be a whole number from 0 to 2")]
    public void What_makes_no_sense_is_refused_in_one_line(string line, string named)
    {
        string message = Assert.Throws<UsageException>(() => Parse(line)).Message;
        Assert.Contains(named, message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', message);
    }

    [Fact]
    public void Defaults_are_those_of_the_peer_harness()
    {
        var cast = Parse("multicast");
        Assert.Equal((3, 100, 3, 1, 0, false, 10, 10), (cast.Members, cast.Size, cast.Senders, cast.SenderIndex, cast.Rate, cast.TotalOrder, cast.Seconds, cast.Warmup));
        var store = Parse("kv");
        Assert.Equal((1, 100, 4, 1, 100_000, 5, 0), (store.Backups, store.Value, store.Threads, store.InFlight, store.Keyspace, store.PercentPuts, store.Rate));
        var fault = Parse("failover");
        Assert.Equal((5, 1, 4, 50, 30, 15), (fault.Members, fault.Spares, fault.TargetSize, fault.PercentPuts, fault.Seconds, fault.Warmup));
        var many = Parse("multikey");
        Assert.Equal((2, 100, 4), (many.Keys, many.PercentPuts, many.Threads));
    }

    [Fact]
    public void A_join_starts_with_one_member_less_than_the_target()
    {
        var join = Parse("join --nodes 6 --backups 2");
        Assert.Equal((5, 6, 3), (join.Members, join.TargetSize, join.ShardSize));
    }

    [Fact]
    public void One_sender_on_a_schedule_makes_a_latency_run() =>
        Assert.Equal((true, false), (Parse("multicast --rate 1000").IsLatency, Parse("failover --load multicast").IsLatency));
}
