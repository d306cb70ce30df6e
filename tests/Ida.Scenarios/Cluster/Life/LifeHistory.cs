using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Checking;
using Ida.Testing.Workload;
using Oracle;

namespace Ida.Scenarios;

/// <summary>Names one DHT of a run that may have several: in two systems, in one group after another, or in one group after the loss of the first.</summary>
internal readonly record struct LifeKey(SystemId System, GroupId Group, ulong Founded);

/// <summary>What the clients of one DHT did, in all lives of its members.</summary>
internal sealed class LifeHistory(Simulation simulation)
{
    private readonly List<(LifeProgram Program, Dht Dht, HistoryClient Client)> _clients = [];

    public HistoryRecorder Recorder { get; } = new(clock: () => simulation.Now.Ticks * 100);

    /// <summary>What its clients know of versions.</summary>
    public VersionBook Versions { get; } = new();

    public long Succeeded => _clients.Sum(static one => one.Client.Succeeded);

    public void Add(LifeProgram program, Dht dht, HistoryClient client) => _clients.Add((program, dht, client));

    /// <summary>Asks for a put of unknown outcome at another program that serves; false if there is none.</summary>
    public bool HandOver(LifeProgram from, HistoryWrite write)
    {
        var others = _clients.FindAll(one => one.Program != from && one.Program.Serves(one.Dht));
        if (others.Count == 0) return false;
        var (program, _, client) = others[simulation.Random.Next(others.Count)];
        program.Resolve(client, write);
        return true;
    }
}
