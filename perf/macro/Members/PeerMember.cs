using System.Text.Json.Nodes;
using GroupCore.Groups;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// One of two members that talk to each other, with one message under way: member 0 measures, member 1 answers. In one group the handlers run on the pool, as by default, in
/// the other on the loop. Beside the groups there is a bare node that sends frames back.
/// </summary>
internal sealed class PeerMember : IMember
{
    private const string Echo = "echo";
    private readonly RunOptions _options;
    private readonly bool _measures;
    private readonly NodeEcho _nodeEcho;
    private readonly GroupEcho _pool, _inline;
    private IdaNode _node = null!;

    private PeerMember(Place place)
    {
        (_options, _measures) = (place.Options, place.Id == 0);
        (_pool, _inline, _nodeEcho) = (new(), new(), new(place.Options));
    }

    public static async Task<IMember> StartAsync(Place place)
    {
        var member = new PeerMember(place) { _node = await place.StartNodeAsync() };
        await member._pool.JoinAsync(member._node, "pool", Echo, false);
        await member._inline.JoinAsync(member._node, "inline", Echo, true);
        return member;
    }

    public async Task<JsonObject> DoAsync(string command, long[] numbers)
    {
        switch (command)
        {
            case "ENABLE":
                return [];
            case "FORMED":
                await Place.FormedAsync(_pool.Group, numbers[0]);
                await Place.FormedAsync(_inline.Group, numbers[0]);
                return [];
            case "PORT":
                return new() { ["port"] = _nodeEcho.Port };
            default:
                var window = Window.Of(numbers);
                var answer = new JsonObject();
                var trips = !_measures ? Task.FromResult(new Histogram()) : Task.Run(() => MeasureAsync(command, window, numbers));
                await window.WatchAsync(answer);
                answer["trips"] = (await trips.WaitAsync(TimeSpan.FromSeconds(30))).Encode();
                return answer;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _nodeEcho.DisposeAsync();
        await _node.DisposeAsync();
    }

    private Task<Histogram> MeasureAsync(string row, Window window, long[] numbers) => row switch
    {
        "QUERY" => QueryAsync(_pool.Group, window),
        "QUERY-INLINE" => QueryAsync(_inline.Group, window),
        "SEND" => _pool.SendAsync(window, _options.Size),
        "SEND-INLINE" => _inline.SendAsync(window, _options.Size),
        "NODE" => _nodeEcho.MeasureAsync((int)numbers[3], window),
        _ => throw new ArgumentException(row, nameof(row)),
    };

    private async Task<Histogram> QueryAsync(Group group, Window window)
    {
        var trips = new Histogram();
        byte[] query = new byte[_options.Size];
        int other = 1 - group.Rank;
        await Clock.UntilAsync(window.Start);
        ulong number = 0;
        for (long began; (began = Clock.Now) < window.Until;)
        {
            FilledBytes.Write(query, ++number, 0);
            byte[] reply = await group.QueryToAsync<byte[], byte[]>(other, Echo, query);
            long now = Clock.Now;
            if (!reply.AsSpan().SequenceEqual(query)) throw new InvalidDataException("The answer is not what was asked.");
            if (window.Contains(began)) trips.Record(now - began);
        }
        return trips;
    }
}
