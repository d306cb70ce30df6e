using GroupCore.Diagnostics;

namespace GroupCore.Groups.Views;

/// <summary>Describes this membership for a person.</summary>
internal sealed partial class GroupProtocol
{
    /// <summary>How much of the window for unstable multicasts is in use. From any thread.</summary>
    public long WindowUsed => GroupLimits.Window - Calls.Credit;

    /// <summary>Once a second, if there is a logger. Inside a turn.</summary>
    public void Look(long now)
    {
        Watch.Look(now);
        foreach (var port in Layers.All) port.Look(now);
    }

    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        if (View is not { } view)
        {
            text.Open($"group {Name}: {Phase}, in no view; the join waits for {Joining.WaitsFor}");
            GroupAttributes.All.Describe(text, this);
            text.Close();
            return;
        }
        text.Open($"group {Name} ({view.Group}): {Phase}, view {view.Id}, rank {Rank} of {view.Members.Count}{(_blocked ? ", blocked: no contact with the Oracle" : "")}");
        if (Phase == GroupPhase.Loading) text.Line($"the join waits for {Joining.WaitsFor}");
        DescribeChange(text);
        text.Open($"members");
        text.List(Enumerable.Range(0, view.Members.Count), view.Members.Count, (text, rank) => DescribeMember(text, view.Members[rank], rank));
        text.Close();
        GroupAttributes.All.Describe(text, this);
        text.Line($"stability: {Multicast.Unstable} of {GroupLimits.Window} bytes of this member's multicasts are not stable, {Multicast.StabilityRoundsOpen} stability rounds are open, {_queue.Count} calls wait to be sent");
        text.Line($"point-to-point: {Peers.Outstanding} messages are not handled at their receivers{(Peers.HasWaiting ? ", others wait for room" : "")}, {Replies.Count} answers wait for room");
        text.Line($"handlers: {Dispatcher.Waiting} events wait{(Upcalls.Running is { } handler ? $", handler {handler} is running" : "")}{(Dispatcher.Full ? "; so many that senders wait" : "")}");
        foreach (var port in Layers.All) port.Describe(text);
        text.Close();
    }

    private void DescribeChange(Description text)
    {
        if (Flush.Proposal is not { } proposal)
        {
            text.Line($"normal: no view change");
            return;
        }
        string cut = Flush.Cut is null ? "not known" : Multicast.Holds(Flush.Cut) ? "held" : "known, with messages missing here";
        text.Open($"wedged by proposal {proposal.Number}: {proposal.Survivors.Count} stay, {proposal.Leavers.Count} leave, {proposal.Joiners.Count} come");
        text.Line($"flush leader rank {Flush.Leader}, flush cut {cut}, {(Flush.Acked ? "acknowledged" : "not acknowledged")}, hooks {(HooksEnded ? "ended" : "at work")}");
        if (WaitsFor is { Count: > 0 } reasons) text.List(reasons, reasons.Count, static (text, reason) => text.Line($"waits for {reason}"));
        text.Close();
    }

    private void DescribeMember(Description text, Membership.ViewMember member, int rank)
    {
        string tag = member.Tag.Length > 0 ? $" \"{member.Tag}\"" : "", own = rank == Rank ? ", this one" : "";
        text.Line($"{rank}: {member.Address} {member.Id}{tag}{(member.Initialised ? "" : ", without the state")}{own}");
    }
}
