using System.Text.Json.Nodes;
using GroupCore.Groups;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>One member of a group that multicasts numbered messages, and checks and counts what is delivered to it.</summary>
internal sealed class MulticastMember : IMember
{
    private const string Data = "data";
    private const string Ack = "ack";
    private const int LastSeconds = 30;
    private readonly RunOptions _options;
    private readonly int _id;
    private readonly Deliveries _deliveries;
    private readonly SendTimes _times = new();
    private readonly Histogram _self = new(), _selfFromSend = new(), _oneWay = new(), _roundTrip = new(), _roundTripFromSend = new();
    private readonly byte[] _ack = new byte[FilledBytes.Least];
    private IdaNode _node = null!;
    private Group _group = null!;
    private Window _window;
    private Timeline? _timeline;
    private long _viewAt;
    private int _victim = -1;
    private volatile bool _over;

    private MulticastMember(Place place)
    {
        (_options, _id) = (place.Options, place.Id);
        _deliveries = new(place.Options);
    }

    public static async Task<IMember> StartAsync(Place place)
    {
        var member = new MulticastMember(place) { _node = await place.StartNodeAsync() };
        member._group = await member._node.JoinAsync("perf", group =>
        {
            group.HandleBytes(Data, member.OnData).HandleBytes(Ack, member.OnAck).OnView(_ => Volatile.Write(ref member._viewAt, Clock.Now));
            if (place.Options.Inline) group.Inline();
        });
        return member;
    }

    public async Task<JsonObject> DoAsync(string command, long[] numbers)
    {
        switch (command)
        {
            case "ENABLE":
                return [];
            case "FORMED":
                await Place.FormedAsync(_group, numbers[0]);
                return [];
            case "GO":
                return await GoAsync(Window.Of(numbers));
            case "FAIL-RUN":
                _victim = (int)numbers[3];
                _timeline = new((int)(numbers[2] / Timeline.StepMs));
                var answer = await GoAsync(Window.Of(numbers));
                answer["view_at"] = Volatile.Read(ref _viewAt) - numbers[0];
                answer["steps"] = new JsonArray([.. _timeline.ToArray().Select(n => (JsonNode)n)]);
                return answer;
            case "COUNT":
                return new()
                {
                    ["delivered"] = _deliveries.Count,
                    ["order_errors"] = _deliveries.OrderErrors,
                    ["payload_errors"] = _deliveries.PayloadErrors,
                    ["hash"] = _deliveries.OrderHash.ToString("x16"),
                };
            default:
                throw new ArgumentException(command, nameof(command));
        }
    }

    public ValueTask DisposeAsync() => _node.DisposeAsync();

    private async Task<JsonObject> GoAsync(Window window)
    {
        _window = window;
        bool sends = _options.IsLatency ? _id == _options.SenderIndex : _id < _options.Senders;
        var sender = new MulticastSender(_group, Data, _options, _id, _times);
        var sending = !sends ? Task.FromResult(0L)
            : _options.Rate > 0 ? Task.Factory.StartNew(() => sender.SendOnSchedule(window), TaskCreationOptions.LongRunning)
            : Task.Run(() => sender.SendAsync(window, () => _over));
        var answer = new JsonObject();
        await window.WatchAsync(answer, ("deliveries", () => _deliveries.Count));
        _over = true;
        answer["rate"] = answer["deliveries"]!.GetValue<long>() / answer["window_s"]!.GetValue<double>();
        answer["stuck"] = await Task.WhenAny(sending, Task.Delay(TimeSpan.FromSeconds(LastSeconds))) != sending;
        answer["sent"] = answer["stuck"]!.GetValue<bool>() ? sender.Sent : await sending;
        if (!_options.IsLatency) return answer;
        // The last acknowledgements are still on their way.
        await Task.Delay(500);
        (answer["self"], answer["self_from_send"], answer["one_way"]) = (_self.Encode(), _selfFromSend.Encode(), _oneWay.Encode());
        (answer["round_trip"], answer["round_trip_from_send"]) = (_roundTrip.Encode(), _roundTripFromSend.Encode());
        return answer;
    }

    private void OnData(MemberRef from, ReadOnlyMemory<byte> message)
    {
        if (!_deliveries.Take(message.Span, out int sender, out long sequence, out long due)) return;
        if (_timeline is { } timeline && sender != _victim) timeline.Count(Clock.Now - _window.Start);
        if (_options.IsLatency) Acknowledge(from, sender, sequence, due);
    }

    private void Acknowledge(MemberRef from, int sender, long sequence, long due)
    {
        long now = Clock.Now;
        if (sender == _id)
        {
            if (!_window.Contains(due)) return;
            _self.Record(now - due);
            _selfFromSend.Record(now - _times[sequence]);
            return;
        }
        if (_window.Contains(due)) _oneWay.Record(now - due);
        FilledBytes.Write(_ack, (ulong)sequence, (ulong)due);
        // In a handler a send is complete when it is queued.
        _ = _group.SendToAsync(from.Rank, Ack, (ReadOnlyMemory<byte>)_ack).AsTask();
    }

    private void OnAck(MemberRef from, ReadOnlyMemory<byte> message)
    {
        long now = Clock.Now;
        if (!FilledBytes.TryRead(message.Span, out ulong sequence, out ulong due) || !_window.Contains((long)due)) return;
        _roundTrip.Record(now - (long)due);
        _roundTripFromSend.Record(now - _times[(long)sequence]);
    }
}
