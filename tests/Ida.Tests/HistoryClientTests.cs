using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Tests;

/// <summary>How a recording client takes the errors of its calls: the guide's promises about them are judged, and no other errors are expected.</summary>
public sealed class HistoryClientTests
{
    private static readonly HistoryWorkload s_writes = new() { Reads = 0, Timeout = TimeSpan.FromHours(1) };

    /// <summary>An error that says "not executed" is a promise: if such a put is seen all the same, the history is wrong.</summary>
    [Fact]
    public void R_a_put_of_which_a_part_that_is_over_said_no_has_failed()
    {
        var world = Founded(HistoryWorkload.Declare);
        world.Exclude(world.Members[1]);
        var (client, recorder) = Client(world, 1, s_writes);
        var running = client.RunAsync(static () => false);
        world.Members[1].Turn(static () => { });
        Assert.True(running.IsCompletedSuccessfully, running.Exception?.ToString());
        Assert.All(recorder.ToHistory().Operations, static op => Assert.Equal(OperationOutcome.Fail, op.Outcome));
        Assert.Equal(0, client.Unknown);
    }

    /// <summary>Of a put that was sent, nothing is known.</summary>
    [Fact]
    public void A_put_that_was_sent_when_the_part_ended_is_unknown()
    {
        var world = Founded(HistoryWorkload.Declare);
        var (client, recorder) = Client(world, 1, s_writes);
        var running = client.RunAsync(() => client.Unknown > 0);
        world.Members[1].Turn(static () => { });
        Assert.False(running.IsCompleted);
        world.Exclude(world.Members[1]);
        Assert.True(running.IsCompletedSuccessfully, running.Exception?.ToString());
        Assert.Contains(recorder.ToHistory().Operations, static op => op.Outcome == OperationOutcome.Info);
    }

    /// <summary>An error that shows a fault of the program, or of the library, fails the run: what was recorded before must not make it pass.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void R_an_error_that_no_call_of_the_workload_deserves_ends_the_run(double reads)
    {
        var hash = new FailingHash();
        var world = Founded(HistoryWorkload.Declare, hash);
        var (client, _) = Client(world, 1, s_writes with { Reads = reads });
        hash.Fails = true;
        var running = client.RunAsync(static () => false);
        world.Members[1].Turn(static () => { });
        Assert.IsType<UserCodeException>(running.Exception?.InnerException);
    }

    private static DhtWorld Founded(Action<DhtMaps> declare, IStableHash? hash = null)
    {
        var world = new DhtWorld { Declare = declare };
        if (hash is not null) world.Options = world.Options with { Hash = hash };
        world.Found(4);
        return world;
    }

    private static (HistoryClient Client, HistoryRecorder Recorder) Client(DhtWorld world, int member, HistoryWorkload workload)
    {
        var recorder = new HistoryRecorder(clock: () => world.Now);
        return (new("c", $"m{member}", world.Members[member].Dht, recorder, new(1), workload), recorder);
    }

    private sealed class FailingHash : IStableHash
    {
        private readonly LastByteHash _hash = new();

        public bool Fails { get; set; }

        public string Name => "failing";

        public ulong Hash(ReadOnlySpan<byte> key) => Fails ? throw new InvalidDataException("on purpose") : _hash.Hash(key);
    }
}
