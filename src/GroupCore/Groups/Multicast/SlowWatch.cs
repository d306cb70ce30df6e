using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// While some sender's window is more than half used, looks every second for members that hold more than half of it back. After two seconds the user is told of
/// such a member, and in a group that evicts it is suspected after <see cref="GroupOptions.SlowMemberTimeout"/>. Every member sees all acknowledgements,
/// so there is more than one witness. A joiner whose load makes progress is not slow, and nobody is slow during a view change, when nobody acknowledges.
/// Source: multicast.md#a-slow-member-is-told-of-and-excluded-only-where-the-group-says-so.
/// </summary>
internal sealed class SlowWatch(IViewMember group, IViewWitness witness, View view, SenderLog[] logs, Func<int, int, uint> ackOf) : ITimerTarget
{
    private const long Step = 1_000_000_000;
    private const long TellAfter = 2 * Step;
    private const int MostQuestions = 10;
    private readonly long[] _since = new long[view.Members.Count];
    private readonly bool[] _told = new bool[view.Members.Count];
    private readonly bool[] _suspected = new bool[view.Members.Count];
    private int _questions;
    private bool _armed;
    private bool _over;

    public static bool IsHalfUsed(SenderLog log) => log.Count * 1_024L > GroupLimits.Window / 2 || log.Bytes > GroupLimits.Window / 2;

    public void Arm()
    {
        if (_armed) return;
        _armed = true;
        group.Node.SetTimer(group.Node.Now + Step, this, 0);
    }

    /// <summary>The view is over.</summary>
    public void Close()
    {
        _over = true;
        for (int rank = 0; rank < _suspected.Length; rank++) Forgive(rank);
    }

    void ITimerTarget.OnTimer(long token)
    {
        if (_over) return;
        group.Touch();
        _armed = false;
        if (group.IsWedged || IsBehind())
        {
            // Nobody is slow while the view changes: the flush judges its members itself (FlushWatch), and the next view begins afresh.
            for (int rank = 0; rank < _since.Length; rank++) Judge(rank, slow: false);
            Arm();
            return;
        }
        Span<bool> slow = stackalloc bool[_since.Length];
        slow.Clear();
        for (int sender = 0; sender < logs.Length; sender++)
            if (IsHalfUsed(logs[sender])) AddSlow(sender, slow);
        bool any = false;
        for (int rank = 0; rank < slow.Length; rank++)
        {
            any |= slow[rank];
            Judge(rank, slow[rank]);
        }
        if (any) Arm();
    }

    /// <summary>
    /// Whether other members say that they are in a view change that this member has not heard of. It asks the membership, and takes it that there is none if the
    /// membership knows of none after some questions. Questions asked without contact to the membership do not count, as they settle nothing.
    /// </summary>
    private bool IsBehind()
    {
        if (!witness.IsBehind || _questions == MostQuestions) return false;
        if (!group.IsBlocked) _questions++;
        group.Membership.Sync(view.Group, view.Id, 0);
        return true;
    }

    /// <summary>Marks members that have not acknowledged the older half of what is stored of a sender. What is not closed here waits for positions, not for handlers.</summary>
    private void AddSlow(int sender, Span<bool> slow)
    {
        var log = logs[sender];
        uint half = log.Received;
        for (long cost = 0; half != log.Base && cost <= GroupLimits.Window / 2;) cost += GroupLimits.Cost(log[--half].Length);
        for (int rank = 0; rank < slow.Length; rank++)
            if (rank != sender && rank != group.Rank && ackOf(rank, sender) <= half && ackOf(rank, sender) < log.Closed) slow[rank] = true;
    }

    private void Judge(int rank, bool slow)
    {
        long now = group.Node.Now;
        if (!slow)
        {
            (_since[rank], _told[rank]) = (0, false);
            Forgive(rank);
            return;
        }
        if (_since[rank] == 0) _since[rank] = now;
        if (!_told[rank] && now - _since[rank] >= TellAfter)
        {
            _told[rank] = true;
            witness.ReportSlow(rank, "its handlers are behind, and senders wait");
        }
        if (_suspected[rank] || !witness.EvictsSlow || now - _since[rank] < witness.SlowNanoseconds) return;
        _suspected[rank] = true;
        witness.Suspicions.Suspect(this, view.Members[rank].Id, Suspicion.Slow);
    }

    /// <summary>A member that may be loading says that its load makes progress.</summary>
    public void OnLoading(int rank) => Judge(rank, slow: false);

    private void Forgive(int rank)
    {
        if (!_suspected[rank]) return;
        _suspected[rank] = false;
        witness.Suspicions.Withdraw(this, view.Members[rank].Id);
    }
}
