using System.Buffers;
using GroupCore.Diagnostics;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>The protocol above the group, if one is attached, and what it may do. On the loop; lives as long as the membership.</summary>
internal sealed class LayerPort(GroupProtocol group) : IGroupPort
{
    private readonly List<ILayerAttachment> _attaching = [];
    private IGroupLayer? _layer;
    private byte[] _scratch = [];

    public bool HasLayer => _layer is not null;

    /// <summary>The protocol above the group, if one is attached. From any thread.</summary>
    public IGroupLayer? Attached => _layer;

    /// <summary>Whether the layer keeps this member, which was asked to leave, as it has something to hand over first.</summary>
    public bool KeepsMember { get; private set; }

    public INode Node => group.Node;

    public View? View => group.View;

    public int Rank => group.Rank;

    public ProcessId Self => group.Membership.Self;

    public bool Wedged => group.IsWedged;

    public bool HoldsLease => !group.IsBlocked && group.Over is null && View is { } view && (!view.Options.StrictPrimary || group.Membership.LeaseUntil > Node.Clock());

    /// <summary>Attaches the layer; while wedged it waits for the next view, since this member's report has gone out without a contribution.</summary>
    public void Attach(ILayerAttachment attachment)
    {
        group.Touch();
        if (group.CallError is { } error) attachment.Fail(error);
        else if (_layer is not null || _attaching.Count > 0) attachment.Fail(new InvalidOperationException($"Group '{group.Name}' has a layer already."));
        else if (View is null || Wedged) _attaching.Add(attachment);
        else AttachNow(attachment);
    }

    private void AttachNow(ILayerAttachment attachment)
    {
        // Nobody would ask the layer any more whether this member may leave.
        if (group.IsGoing || group.Host.Departs)
        {
            attachment.Fail(new NotMemberException(group.Name, group.IsGoing ? "it is leaving" : GroupProtocol.ProcessLeaves));
            return;
        }
        _layer = attachment.Create(this);
        if (_layer is null) return;
        _layer.OnInstalled(View!, []);
        if (group.IsBlocked) _layer.OnBlocked(true);
        Node.Complete(attachment);
    }

    /// <summary>The next view, with what the members' layers contributed.</summary>
    public void OnInstalled(View view, List<LayerContribution> contributions)
    {
        _layer?.OnInstalled(view, contributions);
        if (_attaching.Count == 0) return;
        var attachment = _attaching[0];
        _attaching.Clear();
        AttachNow(attachment);
    }

    public void OnWedged(Proposal proposal) => _layer?.OnWedged(proposal);

    public void Contribute(ArrayBufferWriter<byte> into)
    {
        _layer!.Contribute(into);
        if (into.WrittenCount > GroupLimits.ContributionBytes)
            throw new InvalidOperationException($"A layer contributed {into.WrittenCount} bytes; at most {GroupLimits.ContributionBytes} are allowed.");
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (_layer is not null && !Wedged && !HasGap(rank)) _layer.OnFrame(rank, type, body);
        else Node.Counters.Refuse(RefusalReason.Unexpected);
    }

    /// <summary>A link has room, or its member has installed the view.</summary>
    public void OnRoom(int rank)
    {
        if (!Wedged && !group.IsOver) _layer?.OnRoom(rank);
    }

    public void OnBlocked(bool blocked) => _layer?.OnBlocked(blocked);

    /// <summary>This member is asked to leave.</summary>
    public void OnLeaving() => KeepsMember = _layer?.OnLeaving() == false;

    public void EndOfTurn() => _layer?.EndOfTurn();

    /// <summary>The membership is over for callers. Those that attach a layer get <paramref name="error"/>.</summary>
    public void End(Exception reason, Exception error)
    {
        _layer?.OnOver(reason);
        _layer = null;
        foreach (var attach in _attaching) attach.Fail(error);
        _attaching.Clear();
    }

    /// <summary>The node ends.</summary>
    public void Abandon(Exception reason, ref StopSteps steps)
    {
        steps.Do(() => _layer?.OnOver(reason));
        foreach (var attach in _attaching) steps.Do(() => attach.Fail(reason));
    }

    /// <summary>Says how the layer is, for a person who reads it.</summary>
    public void Describe(Description text) => _layer?.Describe(text);

    /// <summary>Looks at what lasts too long, once a second if there is a logger.</summary>
    public void Look(long now) => _layer?.Look(now);

    /// <summary>Nothing has happened for some time: releases memory that grew.</summary>
    public void Trim() => _scratch = [];

    public long Room(int rank) => IsHere(rank) ? group.Links.RoomTo(rank) : 0;

    public bool IsHere(int rank) => group.Links.IsHere(rank);

    public Span<byte> Reserve(int size)
    {
        group.Touch();
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, Transport.LinkLimits.FrameBytes - FrameHeader.Size);
        if (_scratch.Length < size) _scratch = new byte[Math.Max(size, Math.Max(4_096, _scratch.Length * 2))];
        return _scratch.AsSpan(0, size);
    }

    public void Send(int rank, FrameType type, int length)
    {
        if (HasGap(rank)) return;
        _scratch.AsSpan(0, length).CopyTo(group.Links.Frame(type, length));
        group.Links.SendTo(rank);
    }

    public void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        Span<int> to = stackalloc int[ranks.Length];
        int count = 0;
        foreach (int rank in ranks)
            if (!HasGap(rank)) to[count++] = rank;
        if (count == 0) return;
        _scratch.AsSpan(0, length).CopyTo(group.Links.Frame(type, length));
        group.Links.SendTo(to[..count]);
    }

    public void RequestView() => group.Membership.RequestView(View!.Group);

    public void Leave()
    {
        group.Touch();
        if (!group.IsHandingOver) return;
        KeepsMember = false;
        group.OnHandedOver();
    }

    public void Suspect(int rank, Suspicion evidence)
    {
        // When the group is over, nobody would withdraw it.
        if (!group.IsOver) group.Suspicions.Suspect(group, View!.Members[rank].Id, evidence);
    }

    /// <summary>
    /// Whether frames of the layer to or from a member were lost in this view. A layer counts on every earlier frame being there, so none
    /// is sent or taken any more. Both ends check this: perhaps only the sender noticed, in the view before the receiver's.
    /// </summary>
    private bool HasGap(int rank) => group.Links.HasLost(rank) && Node.Without != Rule.NoFrameBehindAGap;
}
