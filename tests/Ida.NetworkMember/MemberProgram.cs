using System.Net;
using System.Runtime.InteropServices;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using Ida.Chaos.Members;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.NetworkMember;

/// <summary>A node, one trial after the other, and lines that say how it is.</summary>
internal sealed class MemberProgram : IAsyncDisposable
{
    private static readonly TimeSpan s_statusEvery = TimeSpan.FromMilliseconds(100);
    private readonly NetworkPlace _place;
    private readonly EventLog _log;
    private readonly AwakeClock _clock = new(TimeProvider.System);
    private readonly CallLedger _calls;
    private readonly CallBounds _bounds;
    private readonly UnobservedErrors _unobserved;
    private readonly Lock _lock = new();
    private readonly Prng _random;
    private readonly List<Task> _running = [];
    private Trial? _trial;
    private volatile MemberLife? _life;
    private volatile bool _leaves;
    private int _lives;

    private MemberProgram(NetworkPlace place, UnobservedErrors unobserved)
    {
        (_place, _unobserved, _random, _bounds, _log) = (place, unobserved, new(place.Place.Seed), new(place.Place.LongestFault), new(place.Log));
        _calls = new(() => _clock.Now, slack: CallBounds.Slack, passes: static () => TimeSpan.FromMilliseconds(Environment.TickCount64));
    }

    private string Name => _place.Place.Name;

    /// <summary>Everything so far that must not be.</summary>
    private string? Wrong => (_calls.Wrong, _unobserved.Found) is (null, null) ? null : $"{_calls.Wrong}\n{_unobserved.Found}";

    public static async Task<int> RunAsync(NetworkPlace place)
    {
        // A Ctrl-C at the terminal reaches the members too; the driver hears it and ends them.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, static signal => signal.Cancel = true);
        using var unobserved = new UnobservedErrors();
        await using var member = new MemberProgram(place, unobserved);
        return await member.RunAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_trial is { } trial) await trial.DisposeAsync();
    }

    private async Task<int> RunAsync()
    {
        using var ticker = new Ticker(() =>
        {
            _clock.Tick();
            _calls.Look();
        });
        IdaNode node;
        try
        {
            node = await IdaNode.StartAsync(Options());
        }
        catch (ClusterUnreachableException error)
        {
            Say(new() { Answer = MemberStatus.Note, State = error.GetType().Name, Events = _log.Names });
            await Console.Error.WriteLineAsync(error.Message);
            return 3;
        }
        _life = new(node, () => _leaves);
        using var over = new CancellationTokenSource();
        var reports = WatchAsync("its reports", ReportAsync(node, over.Token));
        _ = WatchAsync("its node", EndOfAsync(node));
        while (await Console.In.ReadLineAsync() is { } line) await ObeyAsync(node, line);
        await over.CancelAsync();
        await reports;
        return 0;
    }

    private IdaNodeOptions Options()
    {
        var options = new IdaNodeOptions
        {
            Cluster = _place.Place.Cluster, Seeds = _place.Place.Seeds, Listen = _place.Place.Listen, Security = Security.ClusterKeyVariable(NetworkPlace.KeyVariable), StartTimeout = _place.StartTimeout,
            Membership = new() { OracleSize = _place.OracleSize }, Groups = new() { JoinTimeout = _bounds.JoinWithoutProgress }, OnExcluded = _place.Policy, LoggerFactory = _log,
        };
        return _place.Policy == ExclusionPolicy.Rejoin ? options with { OnRejoined = (next, _) => WatchAsync("a later life", BeginLifeAsync(next)) } : options;
    }

    private async Task ObeyAsync(IdaNode node, string line)
    {
        switch (line)
        {
            case var _ when line.StartsWith(NetworkCommands.Serve, StringComparison.Ordinal):
                _trial = new(_place, line[NetworkCommands.Serve.Length..], _calls);
                await ServeAsync(node);
                Say(new() { Answer = line, Wrong = Wrong });
                break;
            case MemberCommands.Rest:
                if (_trial is { } tired) tired.Rests = true;
                await Task.WhenAll(Running());
                Say(new() { Answer = line, Wrong = Wrong });
                break;
            case MemberCommands.Final:
                bool initialised = _trial is { } final && _life is { } life && await final.FinalAsync(life);
                Say(new() { Answer = line, Initialised = initialised, Wrong = Wrong });
                break;
            case NetworkCommands.End:
                if (_trial is { } trial)
                {
                    _trial = null;
                    if (_life is { } last) await trial.LeaveAsync(last);
                    await trial.DisposeAsync();
                    _life = new(node, () => _leaves);
                }
                Say(new() { Answer = line, Wrong = Join(Wrong, _unobserved.Collect()) });
                break;
            case var _ when line.StartsWith(NetworkCommands.LookUp, StringComparison.Ordinal):
                Say(new() { Answer = line, State = await LookUpAsync(line[NetworkCommands.LookUp.Length..]) });
                break;
            case MemberCommands.Leave:
                _leaves = true;
                await node.DisposeAsync();
                Say(new() { Answer = line, Wrong = Wrong });
                break;
        }
    }

    private async Task BeginLifeAsync(IdaNode node)
    {
        _life = new(node, () => _leaves);
        if (_trial is not null) await ServeAsync(node);
    }

    /// <summary>Takes part in the trial in the present life. If that ends meanwhile, the next one does it.</summary>
    private async Task ServeAsync(IdaNode node)
    {
        var life = _life!;
        try
        {
            if (_trial is { Rests: false } trial) Run("its part in the trial", await trial.ServeAsync(node, life, Interlocked.Increment(ref _lives), Fork));
        }
        catch (Exception error) when (error is ExcludedException or NotMemberException or NodeStoppedException or DhtException or JoinRefusedException)
        {
            await Console.Error.WriteLineAsync($"{Name}: {error.GetType().Name}: {error.Message}");
        }
    }

    private async Task ReportAsync(IdaNode node, CancellationToken over)
    {
        var slots = new SlotReport(_calls, Name, _clock);
        using var timer = new PeriodicTimer(s_statusEvery);
        try
        {
            while (await timer.WaitForNextTickAsync(over))
            {
                var status = new MemberStatus { Active = node.State == MembershipState.Active, State = node.State.ToString(), System = node.System.ToString(), Voters = node.Voters, Events = _log.Names, Said = _trial?.Said ?? 0, Succeeded = _trial?.Succeeded ?? 0 };
                status = await slots.AddToAsync(status, _life);
                Say(status with { HeldUpMs = (long)_clock.HeldUp.TotalMilliseconds, Wrong = Wrong });
            }
        }
        catch (OperationCanceledException) when (over.IsCancellationRequested)
        {
            // The input has ended.
        }
    }

    /// <summary>Any error that ends a part of this program is a finding, and is reported at once.</summary>
    private async Task WatchAsync(string what, Task part)
    {
        try
        {
            await part;
        }
        catch (Exception error)
        {
            _calls.Accuse($"{Name}: {what} ended with {error}");
            Say(new() { Answer = MemberStatus.Note, Wrong = Wrong });
        }
    }

    private async Task EndOfAsync(IdaNode node)
    {
        try
        {
            await node.Completion;
            if (!_leaves) throw new InvalidOperationException("no error, though nobody had told it to end");
        }
        catch (ExcludedException) when (_place.Policy != ExclusionPolicy.Rejoin)
        {
            // Its policy.
        }
    }

    private static async Task<string> LookUpAsync(string name)
    {
        try
        {
            return string.Join(' ', (await Dns.GetHostAddressesAsync(name)).Select(static one => one.ToString()).Order(StringComparer.Ordinal));
        }
        catch (System.Net.Sockets.SocketException error)
        {
            return error.SocketErrorCode.ToString();
        }
    }

    private void Run(string what, Task task)
    {
        lock (_lock)
        {
            _running.RemoveAll(static one => one.IsCompleted);
            _running.Add(WatchAsync(what, task));
        }
    }

    private Prng Fork()
    {
        lock (_lock) return _random.Fork();
    }

    private Task[] Running()
    {
        lock (_lock) return [.. _running];
    }

    private static void Say(MemberStatus status) => Console.WriteLine(status.ToLine());

    private static string? Join(string? one, string? other) => one is null ? other : other is null ? one : $"{one}\n{other}";
}
