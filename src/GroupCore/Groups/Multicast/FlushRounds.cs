namespace GroupCore.Groups.Multicast;

/// <summary>
/// Callers that wait until all members hold what was sent and delivered before, in rounds that they share. What calls need only grows, so rounds end in
/// their order and an acknowledgement looks at the first alone, however many calls wait. Source: multicast.md#a-stability-wait-includes-the-order.
/// </summary>
internal sealed class FlushRounds
{
    /// <summary>Each holds a number for every member. A call beyond them shares the last one, which from then on needs what that call needs.</summary>
    public const int Most = 16;

    private readonly List<Round> _rounds = [];

    public int Count => _rounds.Count;

    /// <summary>Adds a call that needs what this member has sent, what it has delivered of the others, and the order as far as it has; whether all have to be asked anew.</summary>
    public bool Add(FlushCall call, SenderLog[] logs, int self, uint order)
    {
        var round = _rounds.Count > 0 ? _rounds[^1] : null;
        bool covered = round?.Covers(logs, self, order) == true;
        if (round is null || (!covered && _rounds.Count < Most)) _rounds.Add(round = new(logs.Length));
        if (!covered) round.Raise(logs, self, order);
        round.Calls.Add(call);
        return !covered;
    }

    /// <summary>What has to be held by all before the first round ends: by sender, and of the order.</summary>
    public bool TryPeek(out ReadOnlySpan<uint> need, out uint order)
    {
        need = default;
        order = 0;
        if (_rounds.Count == 0) return false;
        need = _rounds[0].Need;
        order = _rounds[0].Order;
        return true;
    }

    /// <summary>The first round is over.</summary>
    public List<FlushCall> Dequeue()
    {
        var calls = _rounds[0].Calls;
        _rounds.RemoveAt(0);
        return calls;
    }

    /// <summary>Nobody waits for these any more.</summary>
    public void RemoveCancelled()
    {
        foreach (var round in _rounds) round.Calls.RemoveAll(static call => call.IsCancelled);
        _rounds.RemoveAll(static round => round.Calls.Count == 0);
    }

    private sealed class Round(int members)
    {
        public uint[] Need { get; } = new uint[members];

        public uint Order { get; private set; }

        public List<FlushCall> Calls { get; } = [];

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
