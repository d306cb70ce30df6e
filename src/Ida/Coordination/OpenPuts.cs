using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// The puts of this member whose outcomes replicas must keep: they remember all from <see cref="AckedBelow"/> on, so only so many puts may begin since the oldest that is open.
/// Source: dht-order.md#outcomes-are-forgotten-when-acknowledged.
/// </summary>
internal sealed class OpenPuts(DhtState state)
{
    private readonly NamedPuts _named = new();
    private readonly List<CoordinatedOperation> _early = [];

    // The first operation in flight that is no retry and holds back outcomes, and the first that is a put under a named id of this member. They only move forward: so each
    // operation is passed once, however many stand before these.
    private ClientOperation? _firstHolding, _firstNamed;

    // A lower bound on the number of this member's puts at the beginning of the oldest put that may hold outcomes back.
    private ulong _oldestPut;

    /// <summary>The numbers of this member's session.</summary>
    public OperationNumbers Numbers { get; } = new();

    /// <summary>The put under an id that its caller named with the lowest number, in flight or waiting for a place.</summary>
    public ClientOperation? FirstNamed => _named.First;

    /// <summary>Most puts that may begin after the oldest open put of this member.</summary>
    public ulong Window { get; set; } = DhtLimits.OpenPuts;

    /// <summary>Ids from this number on count as given, without asking: for schedules that number their clients' puts themselves; null otherwise.</summary>
    public ulong? GivenFrom { get; set; }

    /// <summary>Operations looked at to find the first that holds back; for tests of that cost.</summary>
    public long HoldLooks { get; private set; }

    /// <summary>
    /// Whether replicas have room for another outcome of this member: they remember all outcomes from <see cref="AckedBelow"/> on. Only
    /// puts leave outcomes, so reads do not count and do not wait.
    /// </summary>
    public bool InWindow
    {
        get
        {
            ulong puts = Numbers.Puts;
            if (puts - _oldestPut < Window) return true;
            _oldestPut = Math.Min(puts, _firstHolding?.PutsBefore ?? puts);
            if (_firstNamed is { } named) _oldestPut = Math.Min(_oldestPut, named.PutsBefore);
            foreach (var running in _early) _oldestPut = Math.Min(_oldestPut, running.PutsBefore);
            return puts - _oldestPut < Window;
        }
    }

    /// <summary>
    /// Whether this operation, while in flight, keeps later outcomes from being acknowledged. One-key reads do not, since replicas keep no
    /// attempts of them; retries of this member's puts are counted separately.
    /// </summary>
    private static bool HoldsBack(ClientOperation op) => op.Requested is null && (op.Kind.Changes || op.PartCount > 1);

    private bool IsNamedHere(ClientOperation op) => op.Requested is not null && op.Id.Session == state.Session;

    /// <summary>A call waits for a place; of those that name their put the outcome may be held back already.</summary>
    public void Wait(ClientOperation op)
    {
        if (IsNamedHere(op)) _named.Add(op);
    }

    /// <summary>The call does not wait any more, and ends.</summary>
    public void EndWait(ClientOperation op) => _named.Remove(op);

    /// <summary>A call is in flight now.</summary>
    public void Begin(ClientOperation op)
    {
        if (HoldsBack(op)) _firstHolding ??= op;
        if (!IsNamedHere(op)) return;
        _firstNamed ??= op;
        _named.Add(op);
    }

    /// <summary>A call leaves those in flight, in whose list it still is.</summary>
    public void End(ClientOperation op)
    {
        if (op == _firstHolding) _firstHolding = NextInFlight(op, named: false);
        if (op == _firstNamed) _firstNamed = NextInFlight(op, named: true);
        if (op.Requested is not null) _named.Remove(op);
    }

    private ClientOperation? NextInFlight(ClientOperation op, bool named)
    {
        for (var next = op.Next; ; next = next.Next)
        {
            HoldLooks++;
            if (next is null || (named ? IsNamedHere(next) : HoldsBack(next))) return next;
        }
    }

    /// <summary>A caller was answered before its put is stable: its outcome must not be acknowledged yet.</summary>
    public void HoldEarly(CoordinatedOperation early) => _early.Add(early);

    /// <summary>The put is stable.</summary>
    public void ReleaseEarly(CoordinatedOperation early) => _early.Remove(early);

    /// <summary>The view ends, or the DHT, and all attempts with it.</summary>
    public void ReleaseEarly() => _early.Clear();

    /// <summary>
    /// Whether a put of this session may have the number: it was given to a put, or taken for one. A future id must not be used: replicas would take its outcome for that of the put
    /// which gets the id later, and could never be told to forget ids far ahead. Nor may the ids of reads be used, which are even.
    /// </summary>
    public bool WasGiven(OperationId id) => (id.Sequence <= Numbers.Last && !OperationNumbers.IsOfRead(id.Sequence)) || id.Sequence >= GivenFrom;

    /// <summary>Nobody asks any more for outcomes of this member's session below this number.</summary>
    public ulong AckedBelow()
    {
        ulong below = Math.Min(Numbers.KeptFrom(), Math.Min(_firstHolding?.Id.Sequence ?? ulong.MaxValue, _named.Least));
        foreach (var running in _early) below = Math.Min(below, running.Key.Id.Sequence);
        return below;
    }
}
