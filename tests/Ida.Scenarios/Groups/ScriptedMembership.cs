using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>One process's end of the <see cref="ScriptedOracle"/>.</summary>
internal sealed class ScriptedMembership(Simulation simulation, ScriptedOracle oracle, SimNode node, ProcessId self) : IMembership
{
    private readonly Simulation _simulation = simulation;
    private IMembershipSink? _sink;
    private bool _syncs;

    public SimNode Node { get; } = node;

    public ProcessId Self { get; } = self;

    public MembershipState State { get; private set; } = MembershipState.Active;

    public long LeaseUntil => long.MaxValue;

    public bool Failed { get; set; }

    /// <summary>Nothing that the membership decides reaches this process.</summary>
    public bool Deaf { get; set; }

    public Action? Excluded { get; set; }

    public void Attach(IMembershipSink sink) => _sink = sink;

    public void Join(string name, GroupOptions options, string tag) => Ask(() => oracle.Join(name, options, this, tag));

    public void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members) => throw new NotSupportedException();

    public void Leave(GroupId group) => Ask(() => oracle.Leave(group, Self));

    public void RequestView(GroupId group) => Ask(() => oracle.RequestView(group));

    public void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised) =>
        Ask(() => oracle.CompleteView(group, baseView, proposal, initialised));

    public void Suspect(ProcessId subject, Suspicion evidence) => Ask(() => oracle.Suspicions.Add((subject, evidence)));

    public void Withdraw(ProcessId subject) => Ask(() => oracle.Withdrawals.Add(subject));

    public void Sync(GroupId group, ulong view, ulong proposal)
    {
        // One at a time: each answer may be what is asked for again.
        if (_syncs) return;
        _syncs = true;
        Ask(() =>
        {
            _syncs = false;
            oracle.Sync(group, view, proposal, this);
        });
    }

    /// <summary>An event for this process: late, perhaps twice, perhaps lost this time.</summary>
    public void Tell(Action<IMembershipSink> what, bool certain = false)
    {
        if (Failed || Deaf || (!certain && _simulation.Random.Chance(oracle.Loss))) return;
        int times = _simulation.Random.Chance(0.1) ? 2 : 1;
        for (int i = 0; i < times; i++)
            _simulation.After(Delay(), () => Post(() =>
            {
                if (!Deaf) what(_sink!);
            }));
    }

    /// <summary>The process hears that it was excluded; until then it goes on.</summary>
    public void Exclude(Prng random) => _simulation.After(TimeSpan.FromMilliseconds(random.Next(0, 500)), () => Post(() =>
    {
        if (Deaf) return;
        State = MembershipState.Excluded;
        Excluded?.Invoke();
        _sink!.OnMembershipState(MembershipState.Excluded, "excluded by the script");
    }));

    public void Block(bool blocked) => Post(() =>
    {
        State = blocked ? MembershipState.Blocked : MembershipState.Active;
        _sink!.OnMembershipState(State, "script");
    });

    private void Post(Action action) => Node.Post(action);

    private void Ask(Action request)
    {
        // By its contract, a membership retries until it is answered; for the groups, one request that always arrives amounts to the same.
        if (!Failed) _simulation.After(Delay(), request);
    }

    private TimeSpan Delay() => TimeSpan.FromMicroseconds(_simulation.Random.Next(50, (long)oracle.MaxDelay.TotalMicroseconds));
}
