using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Chaos.Members;

/// <summary>What the DHT of a member says of itself. A late answer holds up no line of the member: the line says how long the answer has been awaited.</summary>
internal sealed class SlotReport(CallLedger calls, string who, AwakeClock clock)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(100);
    private Dht? _of;
    private Task<DhtStatus>? _asked;
    private DhtStatus? _last;
    private TimeSpan _since;

    /// <summary>Adds what is known now to a status; not to be called by two at once.</summary>
    /// <param name="status">What is known without it.</param>
    /// <param name="life">The life, once it has its DHT; null: none has it yet.</param>
    public async Task<MemberStatus> AddToAsync(MemberStatus status, MemberLife? life)
    {
        if (life is not { Dht: { Completion.IsCompleted: false } dht, Group: { Completion.IsCompleted: false } group })
        {
            (_of, _asked, _last) = (null, null, null);
            return status;
        }
        if (_of != dht) (_of, _asked, _last) = (dht, null, null);
        try
        {
            if (_asked is null) (_asked, _since) = (calls.Begin(CallKind.Status, who, () => dht.StatusAsync(), bound: CallBounds.Status, mayBeOver: () => life.IsOverIn(group)), clock.Now);
            await Task.WhenAny(_asked, Task.Delay(s_patience));
            if (_asked.IsCompleted)
            {
                var answer = _asked;
                _asked = null;
                _last = await answer;
            }
            if (_last is { } slots) status = status with { View = slots.View, Members = group.CurrentView.Members.Count, Slot = slots.OwnSlot, Initialised = slots.IsInitialised && slots.OwnSlot >= 0, Shards = slots.Shards };
            return _asked is null ? status : status with { UnansweredMs = (long)(clock.Now - _since).TotalMilliseconds };
        }
        catch (Exception error) when (error is DhtException or NotMemberException or ExcludedException or NodeStoppedException)
        {
            // Between two lives.
            _last = null;
            return status;
        }
    }
}
