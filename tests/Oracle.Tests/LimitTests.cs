using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Testing;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Each value has one limit, the same at every place that checks it.</summary>
public sealed class LimitTests
{
    /// <summary>Sums of these times are clock values, which once overflowed. With heartbeats of more than a third of a second no leader lasted.</summary>
    [Theory]
    [InlineData(nameof(OracleOptions.IsolationTimeout))]
    [InlineData(nameof(OracleOptions.ExclusionTimeout))]
    [InlineData(nameof(OracleOptions.ElectionTimeout))]
    [InlineData(nameof(OracleOptions.Heartbeat))]
    [InlineData(nameof(OracleOptions.ProbeInterval))]
    [InlineData(nameof(OracleOptions.LeaseDuration))]
    public void No_time_is_too_long_to_count_with(string name)
    {
        var (most, above) = name switch
        {
            nameof(OracleOptions.IsolationTimeout) => ((Func<TimeSpan, OracleOptions>)(time => new() { IsolationTimeout = time }), TimeSpan.FromDays(365)),
            nameof(OracleOptions.ExclusionTimeout) => (time => new() { ExclusionTimeout = time }, TimeSpan.FromDays(365)),
            nameof(OracleOptions.ElectionTimeout) => (time => new() { ElectionTimeout = time, ExclusionTimeout = TimeSpan.FromHours(1) }, TimeSpan.FromMinutes(10)),
            nameof(OracleOptions.LeaseDuration) => (time => new() { LeaseDuration = time, IsolationTimeout = TimeSpan.FromDays(365) }, TimeSpan.FromMinutes(10)),
            nameof(OracleOptions.Heartbeat) => (time => new() { Heartbeat = time, ElectionTimeout = TimeSpan.FromSeconds(10) }, TimeSpan.FromMilliseconds(300)),
            _ => (time => new() { ProbeInterval = time }, TimeSpan.FromMinutes(10)),
        };
        most(above).Validate();
        foreach (var time in (TimeSpan[])[above + TimeSpan.FromTicks(1), TimeSpan.MaxValue])
            Assert.Contains(name, Assert.Throws<InvalidOptionException>(most(time).Validate).Message, StringComparison.Ordinal);
    }

    /// <summary>With the longest allowed times a leader stays, members stay, and a dead member is excluded.</summary>
    [Fact]
    public void The_longest_heartbeat_and_patience_work()
    {
        var options = new OracleOptions
        {
            Heartbeat = TimeSpan.FromMilliseconds(300), ElectionTimeout = TimeSpan.FromMilliseconds(900),
            IsolationTimeout = TimeSpan.FromDays(365), ExclusionTimeout = TimeSpan.FromDays(365),
        };
        using var cluster = new OracleCluster(1, 4, options: options);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 4, 20), cluster.Describe());
        cluster.Run(5);
        ulong term = cluster.Leader!.Oracle.Replica!.Log.Term;
        cluster.Run(30);
        Assert.Equal(term, cluster.Leader!.Oracle.Replica!.Log.Term);
        cluster.Alive.Last(process => process != cluster.Leader).Node.Crash();
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 3, 10), cluster.Describe());
    }

    /// <summary>A process that registers says how long its leases are, and the others wait that long for it when it is silent.</summary>
    [Theory]
    [InlineData(600, true)]
    [InlineData(601, false)]
    public void A_process_does_not_register_with_a_lease_that_the_option_does_not_allow(int seconds, bool fits)
    {
        var request = new RequestFrame(new(default, 1, 1, new Register(1, LogBus.ReplicaOf(1).Address, "", "", 0, 0, seconds * Durations.Second)));
        Assert.Equal(fits, FrameCodec.TryRead(FrameType.OracleRequest, Written(request), out _, out _));
    }

    /// <summary>No receiver can read a join with a time that the wire format does not have. Before, its caller never got an answer.</summary>
    [Theory]
    [InlineData(-1.0, false)]
    [InlineData(0.0, false)]
    [InlineData(1.0, true)]
    [InlineData(3_600.0, true)]
    [InlineData(3_600.001, false)]
    [InlineData(2_147_484.0, false)]
    public void A_patience_with_slow_members_that_is_not_allowed_is_refused_at_once(double seconds, bool fits)
    {
        using var cluster = new OracleCluster(1, 1);
        cluster.StartAll(TimeSpan.Zero);
        var one = cluster[0];
        Assert.True(cluster.RunUntil(() => one.Oracle.State == MembershipState.Active, 10), cluster.Describe());
        var options = new GroupOptions { SlowMemberTimeout = TimeSpan.FromSeconds(seconds) };
        one.Node.Post(() =>
        {
            one.Oracle.Join("joined", options, "");
            one.Oracle.Create("created", options, [one.Oracle.Self]);
        });
        Assert.True(cluster.RunUntil(() => one.Groups.Refused.Count + one.Groups.Accepted.Count == 2, 3), cluster.Describe());
        Assert.Equal(fits ? 2 : 0, one.Groups.Accepted.Count);
        Assert.All(one.Groups.Refused, refusal => Assert.Contains("SlowMemberTimeout", refusal, StringComparison.Ordinal));
    }

    /// <summary>A name with an unpaired surrogate changes on the wire. All callers with such names would found and join one and the same group under another name.</summary>
    [Theory]
    [InlineData("name")]
    [InlineData("tag")]
    public void A_name_or_a_tag_with_an_unpaired_surrogate_is_refused(string what)
    {
        const string half = "half \ud800";
        using var cluster = new OracleCluster(1, 1);
        cluster.StartAll(TimeSpan.Zero);
        var one = cluster[0];
        Assert.True(cluster.RunUntil(() => one.Oracle.State == MembershipState.Active, 10), cluster.Describe());
        one.Node.Post(() => one.Oracle.Join(what == "name" ? half : "g", new(), what == "tag" ? half : ""));
        cluster.Run(1);
        Assert.Contains($"its {what} contains an unpaired surrogate", Assert.Single(one.Groups.Refused), StringComparison.Ordinal);
    }

    /// <summary>Before, 129 to 256 characters were accepted, and refused later by the Oracle.</summary>
    [Theory]
    [InlineData(42, true)]
    [InlineData(43, false)]
    public async Task F19_the_longest_name_of_a_group_is_the_same_for_the_caller_and_on_the_wire(int characters, bool fits)
    {
        string name = new('€', characters);
        var request = new RequestFrame(new(new(1, 1), 1, 1, new Join(name, new(), 0, "")));
        Assert.Equal(fits, FrameCodec.TryRead(FrameType.OracleRequest, Written(request), out _, out _));
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode();
        var host = new GroupHost(node.Node, new OracleMember(node.Node, new()), new() { Serializer = ContractSerializer.Instance });
        if (fits) return;
        var join = host.JoinAsync(name, _ => { }).AsTask();
        // The join is refused before anything waits; nothing here would end it later.
        Assert.True(join.IsCompleted);
        await Assert.ThrowsAsync<ArgumentException>(() => join);
    }

    private static ReadOnlySpan<byte> Written(RequestFrame request)
    {
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(3);
        writer.WriteUInt(1);
        writer.WriteUInt(1);
        request.Write(ref writer);
        writer.Flush();
        return buffer.WrittenSpan;
    }
}
