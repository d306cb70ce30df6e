using System.Security.Cryptography;
using System.Text;
using GroupCore.Transport.Credentials;

namespace Ida.Perf.Macro.CommandLine;

/// <summary>The options of one run. The driver and its members parse the same command line.</summary>
internal sealed record RunOptions
{
    public static readonly string[] Commands = ["multicast", "kv", "multikey", "failover", "p2p", "join", "memory"];

    public required string Command { get; init; }

    /// <summary>Member processes at the start of the run.</summary>
    public int Members { get; init; }

    /// <summary>Length of the measuring window, seconds.</summary>
    public int Seconds { get; init; }

    /// <summary>Seconds under load before the measuring window.</summary>
    public int Warmup { get; init; }

    /// <summary>Seconds beyond warm-up and window after which the run is ended by force.</summary>
    public int Grace { get; init; }

    /// <summary>File to which the JSON line is appended as well.</summary>
    public string? Out { get; init; }

    /// <summary>Whether what members write to their standard error is shown.</summary>
    public bool Verbose { get; init; }

    /// <summary>Longest spin of a node's loop, µs.</summary>
    public int Spin { get; init; }

    /// <summary>Whether nodes have a cluster key, so that connections are TLS.</summary>
    public bool Secure { get; init; }

    public bool TotalOrder { get; init; }

    /// <summary>Bytes of a message.</summary>
    public int Size { get; init; }

    /// <summary>How many members send; a latency run has one sender.</summary>
    public int Senders { get; init; }

    public int SenderIndex { get; init; }

    /// <summary>Operations or messages per second and member; 0: as fast as it goes.</summary>
    public int Rate { get; init; }

    /// <summary>Whether handlers run on the loop.</summary>
    public bool Inline { get; init; }

    /// <summary>Operations that one thread keeps under way; in a multicast in total order, messages that one sender keeps under way.</summary>
    public int InFlight { get; init; }

    public int Backups { get; init; }

    /// <summary>Members beyond the target size. A spare moves into a slot whose member is lost.</summary>
    public int Spares { get; init; }

    /// <summary>Bytes of a value.</summary>
    public int Value { get; init; }

    public int Threads { get; init; }

    public int Keyspace { get; init; }

    public string Mix { get; init; } = "";

    public bool Strict { get; init; }

    /// <summary>Whether each caller is a thread that blocks during each operation.</summary>
    public bool Blocking { get; init; }

    /// <summary>Whether keys are drawn by a Zipf distribution rather than uniformly.</summary>
    public bool Zipf { get; init; }

    /// <summary>Keys of one operation.</summary>
    public int Keys { get; init; } = 1;

    /// <summary>Whether the load of a failover is multicasts rather than operations on the DHT.</summary>
    public bool GroupLoad { get; init; }

    /// <summary>Whether the victim is stopped (SIGSTOP) rather than killed.</summary>
    public bool Stop { get; init; }

    public bool VictimFirst { get; init; }

    /// <summary>Silence after which a process is excluded, and length of the lease, in ms; 0 for the library's defaults.</summary>
    public int Detection { get; init; }

    /// <summary>The members' credentials. The key is no secret: it follows from the name of the cluster, so that it need not be handed on.</summary>
    public Security Credentials(string cluster) => Secure ? Security.ClusterKey(Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(cluster)))) : Security.Loopback;

    public int ShardSize => Backups + 1;

    /// <summary>Number of members with a slot once all have joined.</summary>
    public int TargetSize => Members + (Command == "join" ? 1 : 0) - Spares;

    public bool IsMulticast => Command == "multicast" || GroupLoad;

    /// <summary>Whether this is a latency run: one sender on a fixed schedule, acknowledged by the others.</summary>
    public bool IsLatency => Command == "multicast" && Rate > 0;

    public int PercentPuts => Mix switch { "get" => 0, "put" => 100, "mixed95" => 5, _ => 50 };

    public static RunOptions Parse(IReadOnlyList<string> words)
    {
        var a = new Arguments(words);
        if (!Commands.Contains(a.Command)) throw new UsageException($"the command must be one of {string.Join("|", Commands)}, not '{a.Command}'");
        bool faulty = a.Command is "failover";
        var common = new RunOptions
        {
            Command = a.Command,
            Seconds = a.Number("seconds", a.Command switch { "failover" => 30, "join" => 20, "p2p" => 5, _ => 10 }, 1, 3600),
            Warmup = a.Number("warmup", faulty ? 15 : a.Command == "p2p" ? 3 : 10, 0, 3600),
            Grace = a.Number("grace", 150, 1, 3600),
            Out = a.Text("out"),
            Verbose = a.OneOf("verbose", "false", "true") == "true",
            Spin = a.Number("spin", 50, 0, 10_000),
            Secure = a.OneOf("security", "none", "key") == "key",
        };
        var options = a.Command switch
        {
            "multicast" => common.WithMulticast(a, 3, 0),
            "p2p" => common with { Members = 2, Size = a.Number("size", 100, 16, 60_000) },
            "failover" when a.OneOf("load", "kv", "multicast") == "multicast" => common.WithMulticast(a, 5, 2000).WithFault(a) with { GroupLoad = true },
            "failover" => common.WithStore(a, 5, 1, "mixed50", "mixed95", "get", "put").WithFault(a),
            "join" => common.WithStore(a, 4, 0, "mixed50", "mixed95", "get", "put").WithoutOne(),
            "multikey" => common.WithMultiKey(a),
            "memory" => common.WithStore(a, 4, 0, "put").WithKeys(2000),
            _ => common.WithStore(a, 4, 0, "mixed95", "mixed50", "get", "put").WithCalls(a),
        };
        a.RefuseUnknown();
        return options;
    }

    private RunOptions WithMulticast(Arguments a, int members, int rate)
    {
        int count = a.Number("members", members, 1, 64);
        var options = this with
        {
            Members = count,
            TotalOrder = a.OneOf("order", "fifo", "total") == "total",
            Size = a.Number("size", 100, 16, 16 << 20),
            Senders = a.Text("senders") is null or "all" ? count : a.Number("senders", count, 1, count),
            SenderIndex = a.Number("sender-index", Math.Min(1, count - 1), 0, count - 1),
            Rate = a.Number("rate", rate, 0, 1_000_000),
            Inline = a.OneOf("inline", "false", "true") == "true",
            InFlight = a.Number("inflight", 256, 1, 16_384),
        };
        return options;
    }

    private RunOptions WithStore(Arguments a, int nodes, int spares, params ReadOnlySpan<string> mixes)
    {
        var options = this with
        {
            Members = a.Number("nodes", nodes, 1, 64),
            Backups = a.Number("backups", 1, 0, 15),
            Spares = a.Number("spares", spares, 0, 63),
            Value = a.Number("value", 100, 16, 1 << 20),
            Threads = a.Number("threads", 4, 1, 256),
            Keyspace = a.Number("keyspace", 100_000, 1),
            Strict = a.OneOf("level", "strict", "ordered") == "strict",
            Rate = a.Number("rate", 0, 0, 10_000_000),
            InFlight = Command == "multikey" ? 1 : a.Number("inflight", 1, 1, 1024),
            Mix = Command == "multikey" ? a.OneOf("op", "put", "get") : a.OneOf("mix", mixes),
        };
        int target = options.Members - options.Spares;
        if (target < options.ShardSize || target % options.ShardSize != 0)
        {
            throw new UsageException($"--nodes less --spares must be a multiple of --backups + 1, the members of a shard: {options.Members} - {options.Spares} is no multiple of {options.ShardSize}");
        }
        return options;
    }

    private RunOptions WithCalls(Arguments a)
    {
        var options = this with { Blocking = a.OneOf("calls", "chained", "blocking") == "blocking", Zipf = a.OneOf("keys-by", "uniform", "zipf") == "zipf" };
        return options is { Blocking: true } and not { Rate: 0, InFlight: 1 } ? throw new UsageException("--calls blocking goes with --inflight 1 and without --rate") : options;
    }

    private RunOptions WithMultiKey(Arguments a)
    {
        var options = WithStore(a, 4, 0, "put") with { Keys = a.Number("keys", 2, 1, 64) };
        return options.Keys <= options.Keyspace ? options : throw new UsageException($"--keys must not be above --keyspace, which is {options.Keyspace}");
    }

    private RunOptions WithKeys(int least) => Keyspace >= least ? this : throw new UsageException($"--keyspace must be at least {least} for '{Command}'");

    private RunOptions WithFault(Arguments a) => this with
    {
        Stop = a.OneOf("fault", "kill", "stop") == "stop",
        VictimFirst = a.OneOf("victim", "last", "first") == "first",
        Detection = a.Number("detection", 0, 400, 10_000),
    };

    /// <summary>Starts without the last member, which joins during the run.</summary>
    private RunOptions WithoutOne() => Members - 1 >= TargetSizeAfter / ShardSize && Members > 1
        ? this with { Members = Members - 1 }
        : throw new UsageException("--nodes is too small: without the one that joins there must be a member for every shard");

    private int TargetSizeAfter => Members - Spares;
}
