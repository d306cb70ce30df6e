using GroupCore.Groups.Calls;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// Calls that wait until all members hold what was sent and delivered before, in shared rounds. Each round needs at least what the one before it needs, so
/// rounds end in order, and an acknowledgement is checked against the first one only. Source: multicast.md#a-stability-wait-includes-the-order.
/// </summary>
internal sealed class StabilityRounds
{
    /// <summary>Most rounds: each holds a number for every member. A further call shares the last round, which from then on needs what that call needs.</summary>
    public const int Most = 16;

    private readonly List<Round> _rounds = [];

    public int Count => _rounds.Count;

    /// <summary>Adds a call that needs all that this member has sent and delivered, and the positions it has delivered; true when all members have to be asked again.</summary>
    public bool Add(StabilityWait call, SenderLog[] logs, int self, uint order)
    {
        var round = _rounds.Count > 0 ? _rounds[^1] : null;
        bool covered = round?.Covers(logs, self, order) == true;
        if (round is null || (!covered && _rounds.Count < Most)) _rounds.Add(round = new(logs.Length));
        if (!covered) round.Raise(logs, self, order);
        round.Calls.Add(call);
        return !covered;
    }

    /// <summary>What all members must hold before the first round ends: a number for each sender, and one for the order.</summary>
    public bool TryPeek(out ReadOnlySpan<uint> need, out uint order)
    {
        need = default;
        order = 0;
        if (_rounds.Count == 0) return false;
        need = _rounds[0].Need;
        order = _rounds[0].Order;
        return true;
    }

    /// <summary>Ends the first round; returns its calls.</summary>
    public List<StabilityWait> Dequeue()
    {
        var calls = _rounds[0].Calls;
        _rounds.RemoveAt(0);
        return calls;
    }

    /// <summary>Removes calls whose callers do not wait any more.</summary>
    public void RemoveCancelled()
    {
        foreach (var round in _rounds) round.Calls.RemoveAll(static call => call.IsCancelled);
        _rounds.RemoveAll(static round => round.Calls.Count == 0);
    }

    private sealed class Round(int members)
    {
        public uint[] Need { get; } = new uint[members];

        public uint Order { get; private set; }

        public List<StabilityWait> Calls { get; } = [];

        public bool Covers(SenderLog[] logs, int self, uint order)
        {
            for (int s = 0; s < logs.Length; s++)
                if (Need[s] < Held(logs, self, s)) return false;
            return Order >= order;
        }

        public void Raise(SenderLog[] logs, int self, uint order)
        {
            for (int s = 0; s < logs.Length; s++) Need[s] = Held(logs, self, s);
            Order = order;
        }

        private static uint Held(SenderLog[] logs, int self, int sender) => sender == self ? logs[sender].Received : logs[sender].Passed;
    }
}
