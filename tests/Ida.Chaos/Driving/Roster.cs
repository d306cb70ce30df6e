using System.Net;
using System.Net.Sockets;
using Ida.Chaos.Judging;

namespace Ida.Chaos.Driving;

/// <summary>The places of the run and the process at each: where a process died, the next one begins at the same address.</summary>
internal sealed class Roster : IDisposable
{
    private const int FirstPort = 20_000, Ports = 10_000, Seeds = 3;
    private readonly ChaosOptions _options;
    private readonly string _folder;
    private readonly string _cluster = $"chaos-{Environment.ProcessId}";
    private readonly List<(IPEndPoint Listen, LinkProxy Proxy)> _places = [];
    private readonly SortedDictionary<int, MemberProcess> _running = [];
    private readonly Starter _starter = new();
    private int _started;

    public Roster(ChaosOptions options, string folder, Findings findings)
    {
        (_options, _folder, Findings) = (options, folder, findings);
        for (int i = 0; i < options.Members + 2; i++)
        {
            var listen = new IPEndPoint(IPAddress.Loopback, FreePort());
            _places.Add((listen, new(listen, Cuts)));
        }
    }

    public CutPairs Cuts { get; } = new();

    /// <summary>What all members said of their calls.</summary>
    public Findings Findings { get; }

    /// <summary>Processes that run, in the order of their places.</summary>
    public IReadOnlyCollection<MemberProcess> Running => _running.Values;

    public bool HasRoom => _running.Count < _places.Count;

    /// <summary>Where the processes write what their clients did.</summary>
    public List<string> Histories { get; } = [];

    /// <summary>Starts a process at the first empty place.</summary>
    public MemberProcess Start()
    {
        int place = Enumerable.Range(0, _places.Count).First(i => !_running.ContainsKey(i));
        string name = $"m{place}.{++_started}", history = Path.Combine(_folder, $"{name}.jsonl");
        Histories.Add(history);
        var process = _starter.Start(new(name, _cluster, _places[place].Listen.ToString(), _places[place].Proxy.Address,
            [.. _places.Take(Seeds).Select(static one => one.Proxy.Address)], _options.ShardSize, _options.TargetSize, _options.Clients, _options.Seed + (ulong)_started, history, _options.Longest));
        process.Unresolved = HandOn;
        process.Said = (one, said) => Findings.Note(one.Name, said);
        lock (_running) _running.Add(place, process);
        return process;
    }

    /// <summary>The process has ended, or is about to.</summary>
    public void Remove(MemberProcess process)
    {
        lock (_running) _running.Remove(_running.First(pair => pair.Value == process).Key);
    }

    /// <summary>Hands a write whose outcome a member could not find out to another member; if none can take it, the outcome stays unknown.</summary>
    private void HandOn(MemberProcess from, string line)
    {
        lock (_running)
        {
            var able = _running.Values.Where(one => one != from && !one.MayEnd && one is { IsFresh: true, Status.Active: true }).ToList();
            if (able.Count > 0) able[Random.Shared.Next(able.Count)].Tell(line);
        }
    }

    /// <summary>The pairs of a process with all others, or with one.</summary>
    public IEnumerable<Pair> Pairs(MemberProcess one, MemberProcess? other) =>
        _running.Values.Where(process => process != one && (other is null || process == other)).Select(process => new Pair(one.Place.Advertise, process.Place.Advertise));

    public void Dispose()
    {
        foreach (var process in _running.Values) process.Dispose();
        foreach (var (_, proxy) in _places) proxy.Dispose();
        _starter.Dispose();
    }

    /// <summary>A free port below the range from which the system chooses, so that no outgoing connection takes it while nobody listens there.</summary>
    private int FreePort()
    {
        while (true)
        {
            int port = FirstPort + Random.Shared.Next(Ports);
            if (_places.Exists(place => place.Listen.Port == port)) continue;
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
                return port;
            }
            catch (SocketException)
            {
                // Taken: another one.
            }
        }
    }
}
