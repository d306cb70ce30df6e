using GroupCore.Groups;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>Sends one member's messages. One buffer serves them all, since the group has copied the message when the call returns.</summary>
internal sealed class MulticastSender(Group group, string handler, RunOptions options, int id, SendTimes times)
{
    private const long LateLimit = 5 * Clock.Second;
    private readonly byte[] _message = new byte[options.Size];
    private long _sent;
    private readonly SendWindow _underWay = new(options.InFlight);

    public long Sent => Volatile.Read(ref _sent);

    /// <summary>Sends as fast as the group takes messages; returns their number.</summary>
    public async Task<long> SendAsync(Window window, Func<bool> over)
    {
        await Clock.UntilAsync(window.Start);
        for (long sequence = 0; !over(); Volatile.Write(ref _sent, ++sequence))
        {
            FilledBytes.Write(_message, Deliveries.NumberOf(id, sequence), 0);
            if (!options.TotalOrder)
            {
                await group.SendAsync(handler, (ReadOnlyMemory<byte>)_message);
                continue;
            }
            await _underWay.RoomAsync();
            _underWay.Add(group.OrderedSendAsync(handler, (ReadOnlyMemory<byte>)_message));
        }
        await _underWay.DrainAsync();
        return Sent;
    }

    /// <summary>Sends each message when it is due, on a thread of its own; returns their number.</summary>
    public long SendOnSchedule(Window window)
    {
        Clock.SleepUntil(window.Start);
        for (long sequence = 0; ; Volatile.Write(ref _sent, ++sequence))
        {
            long due = window.Start + (sequence * Clock.Second / options.Rate);
            if (due >= window.Until || Clock.Now >= window.Until + LateLimit) break;
            Clock.SleepUntil(due);
            // Waiting for room counts as part of the send, as with a send that blocks for it.
            times[sequence] = Clock.Now;
            Wait(_underWay.RoomAsync());
            FilledBytes.Write(_message, Deliveries.NumberOf(id, sequence), (ulong)due);
            _underWay.Add(options.TotalOrder
                ? group.OrderedSendAsync(handler, (ReadOnlyMemory<byte>)_message)
                : group.SendAsync(handler, (ReadOnlyMemory<byte>)_message));
        }
        _underWay.DrainAsync().GetAwaiter().GetResult();
        return Sent;
    }

    private static void Wait(ValueTask sent)
    {
        if (sent.IsCompleted) sent.GetAwaiter().GetResult();
        else sent.AsTask().GetAwaiter().GetResult();
    }
}
