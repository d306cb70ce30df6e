using System.Text.Json;
using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using Ida;

namespace FiveMachines.Members;

/// <summary>One process of the cluster: adds to a counter that all share, reads it, and tells what it believes. All calls of this program to Ida are here.</summary>
internal sealed class MemberProgram
{
    /// <summary>The environment variable with the key of the cluster.</summary>
    public const string KeyVariable = "FIVE_MACHINES_KEY";

    /// <summary>What a person, or the first process, may type: add no more.</summary>
    public const string Rest = "rest";
    private const string Counter = "total";
    private static readonly TimeSpan s_tellEvery = TimeSpan.FromMilliseconds(200), s_addEvery = TimeSpan.FromMilliseconds(20);
    private static readonly GetOptions s_read = new() { Timeout = TimeSpan.FromMilliseconds(500) };
    private static readonly PutOptions s_add = new() { Timeout = TimeSpan.FromSeconds(3) };
    private volatile Part? _part;
    private long _acknowledged, _unknown;
    private volatile bool _rest, _rests;

    /// <summary>How many additions at most a process begins within a time, the one that is open at its beginning counted. The pause between two may be cut short by the granularity of the clock, but not by half.</summary>
    public static long MostAdditions(TimeSpan time) => (long)(time / s_addEvery * 2) + 2;

    public static async Task<int> RunAsync(string listen, string[] seeds)
    {
        var member = new MemberProgram();
        await using var node = await IdaNode.StartAsync(new()
        {
            Cluster = "five-machines",
            Listen = listen,
            Seeds = seeds,
            Security = Security.ClusterKeyVariable(KeyVariable),
            // Any two of the five may be lost, as long as the other three reach each other.
            Membership = new() { OracleSize = 5 },
            StartTimeout = TimeSpan.FromMinutes(1),
            // Who was excluded comes back as a new member.
            OnExcluded = ExclusionPolicy.Rejoin,
            OnRejoined = (next, _) => member.JoinAsync(next),
        });
        await member.JoinAsync(node);
        _ = member.TellAsync(node);
        _ = member.AddAsync();
        while (await Console.In.ReadLineAsync() is { } line)
            if (line == Rest) member._rest = true;
        return 0;
    }

    private async Task JoinAsync(IdaNode node)
    {
        _part = null;
        try
        {
            var group = await node.JoinAsync("machines");
            // Three replicas: two lost machines cannot take all of them along.
            var dht = await group.EnableDhtAsync(new() { ShardSize = 3, TargetSize = 3 }, static maps => maps.Map<string, int>("counters").OnMerge<int>(static (_, stored, more) => stored + more));
            _part = new(group, dht.Map<string, int>("counters"));
        }
        catch (Exception error) when (error is ExcludedException or NotMemberException or NodeStoppedException or NotDhtMemberException)
        {
            // This life was over before it had joined, as on a machine that stood still: the next one joins.
        }
    }

    private async Task AddAsync()
    {
        while (!_rest)
        {
            await Task.Delay(s_addEvery);
            if (_part is not { } part) continue;
            try
            {
                await part.Counters.MergeAsync(Counter, 1, s_add);
                _acknowledged++;
            }
            catch (OutcomeUnknownException)
            {
                _unknown++;
            }
            catch (DhtException)
            {
                // Not added: the machine is cut off, or was excluded.
            }
        }
        _rests = true;
    }

    private async Task TellAsync(IdaNode node)
    {
        while (true)
        {
            await Task.Delay(s_tellEvery);
            // Before the counter is read: who rests then reads a total that has all its own additions.
            bool rests = _rests;
            var view = _part?.Group.CurrentView;
            int? total = null;
            try
            {
                if (_part is { } part) total = (await part.Counters.GetAsync(Counter, s_read)).ValueOr(0);
            }
            catch (DhtException)
            {
                // No answer: what it says is only what it last heard of.
            }
            long now = Environment.TickCount64;
            var belief = new Belief(node.State.ToString(), view?.Id ?? 0, [.. view?.Members.Select(static one => one.Address.Text) ?? []], total, _acknowledged, _unknown, rests, now);
            Console.WriteLine(JsonSerializer.Serialize(belief, BeliefJson.Default.Belief));
        }
    }

    private sealed record Part(Group Group, DhtMap<string, int> Counters);
}
