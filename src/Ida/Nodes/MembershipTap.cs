using GroupCore.Membership;

namespace Ida.Nodes;

/// <summary>Stands between the Oracle's client and the group layer, and reports changes of the membership state to the node.</summary>
internal sealed class MembershipTap(IMembership inner, Action<MembershipState, string> onState) : IMembership, IMembershipSink
{
    private IMembershipSink? _sink;

    public ProcessId Self => inner.Self;

    public MembershipState State => inner.State;

    public long LeaseUntil => inner.LeaseUntil;

    public void Attach(IMembershipSink sink)
    {
        _sink = sink;
        inner.Attach(this);
    }

    public void Join(string name, GroupOptions options, string tag) => inner.Join(name, options, tag);

    public void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members) => inner.Create(name, options, members);

    public void Leave(GroupId group) => inner.Leave(group);

    public void RequestView(GroupId group) => inner.RequestView(group);

    public void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised) => inner.CompleteView(group, baseView, proposal, initialised);

    public void Suspect(ProcessId subject, Suspicion evidence) => inner.Suspect(subject, evidence);

    public void Withdraw(ProcessId subject) => inner.Withdraw(subject);

    public void Sync(GroupId group, ulong view, ulong proposal) => inner.Sync(group, view, proposal);

    public void OnMembershipState(MembershipState state, string reason)
    {
        _sink!.OnMembershipState(state, reason);
        onState(state, reason);
    }

    public void OnJoinAccepted(string name, GroupId group) => _sink!.OnJoinAccepted(name, group);

    public void OnJoinRefused(string name, string reason) => _sink!.OnJoinRefused(name, reason);

    public void OnPropose(Proposal proposal) => _sink!.OnPropose(proposal);

    public void OnInstall(View view) => _sink!.OnInstall(view);

    public void OnGroupOver(GroupId group, string reason) => _sink!.OnGroupOver(group, reason);
}
