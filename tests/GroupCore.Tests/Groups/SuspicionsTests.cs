using GroupCore.Groups.Shared;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>What the membership is told of a process that several groups, or several watches of one group, suspect for different reasons.</summary>
public sealed class SuspicionsTests
{
    private static readonly ProcessId Subject = new(12, 4);
    private readonly object _stall = new(), _slow = new();
    private readonly Told _told = new();
    private readonly Suspicions _suspicions;

    public SuspicionsTests() => _suspicions = new(_told);

    /// <summary>A stall is a quarrel of a pair of members, and slow handlers are not: told in its place, they would hide it for as long as they are slow.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Evidence_of_slow_handlers_does_not_replace_other_evidence_and_is_told_again_after_it(bool slowFirst)
    {
        if (slowFirst) _suspicions.Suspect(_slow, Subject, Suspicion.Slow);
        _suspicions.Suspect(_stall, Subject, Suspicion.FlushStall);
        if (!slowFirst) _suspicions.Suspect(_slow, Subject, Suspicion.Slow);
        Assert.Equal(Suspicion.FlushStall, _told.Of[Subject]);
        _suspicions.Withdraw(_stall, Subject);
        Assert.Equal(Suspicion.Slow, _told.Of[Subject]);
        _suspicions.WithdrawAll(_slow);
        Assert.Empty(_told.Of);
    }

    /// <summary>To withdraw evidence that was not told leaves the evidence that was.</summary>
    [Fact]
    public void Withdrawing_evidence_of_slow_handlers_leaves_the_other_evidence()
    {
        _suspicions.Suspect(_stall, Subject, Suspicion.FlushStall);
        _suspicions.Suspect(_slow, Subject, Suspicion.Slow);
        _suspicions.Withdraw(_slow, Subject);
        Assert.Equal(Suspicion.FlushStall, _told.Of[Subject]);
        Assert.Equal(1, _told.Times);
        _suspicions.Withdraw(_stall, Subject);
        Assert.Empty(_told.Of);
    }

    private sealed class Told : IMembership
    {
        public Dictionary<ProcessId, Suspicion> Of { get; } = [];

        public int Times { get; private set; }

        public ProcessId Self => new(11, 3);

        public MembershipState State => MembershipState.Active;

        public long LeaseUntil => long.MaxValue;

        public void Suspect(ProcessId subject, Suspicion evidence)
        {
            Times++;
            Of[subject] = evidence;
        }

        public void Withdraw(ProcessId subject) => Of.Remove(subject);

        public void Attach(IMembershipSink sink) => throw new NotSupportedException();

        public void Join(string name, GroupOptions options, string tag) => throw new NotSupportedException();

        public void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members) => throw new NotSupportedException();

        public void Leave(GroupId group) => throw new NotSupportedException();

        public void RequestView(GroupId group) => throw new NotSupportedException();

        public void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised) => throw new NotSupportedException();

        public void Sync(GroupId group, ulong view, ulong proposal) => throw new NotSupportedException();
    }
}
