using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle;

namespace Ida.Scenarios;

/// <summary>A server of names in a simulation: slow, silent at times, and with answers that name only some of the addresses.</summary>
internal sealed class SimNames(Prng random) : INameService
{
    private readonly SortedDictionary<string, List<IPAddress>> _names = new(StringComparer.Ordinal);
    private readonly SortedDictionary<(ulong, string), int> _failed = [];

    /// <summary>How long an answer takes at most.</summary>
    public TimeSpan Slowest { get; set; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Which share of the questions gets no address, though no node's questions of one name more than <see cref="MostFailures"/> times in a row.</summary>
    public double Fails { get; set; }

    public int MostFailures { get; set; } = 2;

    /// <summary>The most addresses in one answer; 0: all.</summary>
    public int Most { get; set; }

    /// <summary>How often it was asked.</summary>
    public int Asked { get; private set; }

    public static IPAddress AddressOf(NodeAddress address) => EndPointText.Parse(address.Text, nameof(address)).Address;

    /// <summary>From now on the name stands for these addresses.</summary>
    public void Set(string name, params IEnumerable<NodeAddress> addresses) => _names[name] = [.. addresses.Select(AddressOf)];

    public void SetRaw(string name, params IPAddress[] addresses) => _names[name] = [.. addresses];

    public bool Knows(string name) => _names.ContainsKey(name);

    public void Add(string name, NodeAddress address)
    {
        if (!_names.TryGetValue(name, out var known)) _names.Add(name, known = []);
        if (!known.Contains(AddressOf(address))) known.Add(AddressOf(address));
    }

    public void Remove(string name, NodeAddress address) => _names.GetValueOrDefault(name)?.Remove(AddressOf(address));

    public void Resolve(INode node, string host, Action<IReadOnlyList<IPAddress>, string> found)
    {
        Asked++;
        IReadOnlyList<IPAddress> all = _names.GetValueOrDefault(host) is { } known ? [.. known] : [];
        int failed = _failed.GetValueOrDefault((node.Id, host));
        bool fails = failed < MostFailures && random.Chance(Fails);
        _failed[(node.Id, host)] = fails ? failed + 1 : 0;
        IReadOnlyList<IPAddress> told = fails ? [] : Most > 0 && all.Count > Most ? Chosen(all) : all;
        node.SetTimer(node.Now + random.Next(1, 1 + (long)Slowest.TotalNanoseconds), new Answer(() => found(told, fails ? "no answer" : "no such name")), 0);
    }

    private List<IPAddress> Chosen(IReadOnlyList<IPAddress> all)
    {
        int first = random.Next(all.Count);
        return [.. Enumerable.Range(first, Most).Select(i => all[i % all.Count])];
    }

    private sealed class Answer(Action tell) : ITimerTarget
    {
        public void OnTimer(long token) => tell();
    }
}
