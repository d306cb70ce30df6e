using System.Buffers;
using GroupCore.Diagnostics;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// A layer of the group, if it is attached, and what it may do. On the loop; lives as long as the membership. What the layer throws is rethrown as <see cref="LayerFaultException"/>.
/// </summary>
internal sealed class LayerPort(GroupProtocol group, LayerFrames frames) : IGroupPort
{
    private readonly List<ILayerAttachment> _attaching = [];
    private IGroupLayer? _layer;
    private bool _letsGo;

    // By rank, null if there are none: members that have another layer with this one's name or frame types. And all such members of the last view: the user knows of them.
    private bool[]? _differs;
    private SortedSet<ProcessId> _told = [];

    public bool HasLayer => _layer is not null;

    /// <summary>The layer, if it is attached. From any thread.</summary>
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
        else if (_layer is not null || _attaching.Count > 0) attachment.Fail(new InvalidOperationException($"Group '{group.Name}' has the layer \"{frames.Name}\" already."));
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
        try
        {
            Install(View!, []);
            if (group.IsBlocked) OnBlocked(true);
        }
        catch (LayerFaultException fault)
        {
            // No command holds the attachment any more if it waited for the view.
            attachment.Fail(fault);
            throw;
        }
        Node.Complete(attachment);
    }

    /// <summary>The next view, with what all layers of the members contributed.</summary>
    public void OnInstalled(View view, List<LayerPart> parts)
    {
        _differs = null;
        if (_layer is null && _attaching.Count == 0) return;
        var own = OwnOf(view, parts);
        if (_layer is not null) Install(view, own);
        if (_attaching.Count == 0) return;
        var attachment = _attaching[0];
        _attaching.Clear();
        AttachNow(attachment);
    }

    private void Install(View view, List<LayerContribution> contributions)
    {
        try
        {
            _layer!.OnInstalled(view, contributions);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    /// <summary>What this layer contributed at the members. A member's first part that concerns the layer counts; a member that differs is reported once.</summary>
    private List<LayerContribution> OwnOf(View view, List<LayerPart> parts)
    {
        var own = new List<LayerContribution>(parts.Count);
        var told = _told;
        _told = [];
        ProcessId? last = null;
        foreach (var (member, layer, bytes) in parts)
        {
            if (member == last || (layer != frames && !layer.Clashes(frames))) continue;
            last = member;
            if (layer == frames) own.Add(new(member, bytes));
            else if (view.RankOf(member) is >= 0 and var rank)
            {
                (_differs ??= new bool[view.Members.Count])[rank] = true;
                _told.Add(member);
                if (told.Contains(member)) continue;
                string address = view.Members[rank].Address.ToString();
                Node.Log.LayerDiffers(group.Name, frames.ToString(), address, layer.ToString());
                group.ReportLater(new("layer", new(rank, view.Members[rank]), new LayerMismatchException(group.Name, frames, address, layer)));
            }
        }
        return own;
    }

    public void OnWedged(Proposal proposal)
    {
        try
        {
            _layer?.OnWedged(proposal);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    /// <summary>What the layer contributes, with its head.</summary>
    public byte[] Contribute()
    {
        var into = new ArrayBufferWriter<byte>();
        frames.WriteHead(into);
        int head = into.WrittenCount;
        try
        {
            _layer!.Contribute(into);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
        int bytes = into.WrittenCount - head;
        if (bytes > GroupLimits.ContributionBytes) throw Fault(new InvalidOperationException($"It contributed {bytes} bytes; at most {GroupLimits.ContributionBytes} are allowed."));
        return into.WrittenSpan.ToArray();
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (_layer is null || Wedged || HasGap(rank) || _differs?[rank] == true)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        try
        {
            _layer.OnFrame(rank, type, body);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    /// <summary>A link has room, or its member has installed the view.</summary>
    public void OnRoom(int rank)
    {
        if (Wedged || group.IsOver) return;
        try
        {
            _layer?.OnRoom(rank);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    public void OnBlocked(bool blocked)
    {
        try
        {
            _layer?.OnBlocked(blocked);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    /// <summary>This member is asked to leave.</summary>
    public void OnLeaving()
    {
        try
        {
            _letsGo = false;
            KeepsMember = _layer?.OnLeaving() == false && !_letsGo;
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    public void EndOfTurn()
    {
        try
        {
            _layer?.EndOfTurn();
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    private LayerFaultException Fault(Exception error) => error as LayerFaultException ?? new(group.Name, frames.Name, error);

    /// <summary>The membership is over for callers. Those that wait to attach a layer get <paramref name="error"/>.</summary>
    public void End(Exception reason, Exception error)
    {
        try
        {
            _layer?.OnOver(reason);
        }
        catch (Exception fault)
        {
            throw Fault(fault);
        }
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

    /// <summary>Describes the layer for a person.</summary>
    public void Describe(Description text)
    {
        try
        {
            _layer?.Describe(text);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    /// <summary>Checks for what lasts too long; once a second if there is a logger.</summary>
    public void Look(long now)
    {
        try
        {
            _layer?.Look(now);
        }
        catch (Exception error)
        {
            throw Fault(error);
        }
    }

    public long Room(int rank) => IsHere(rank) ? group.Links.RoomTo(rank) : 0;

    public bool IsHere(int rank) => group.Links.IsHere(rank);

    public Span<byte> Reserve(int size)
    {
        group.Touch();
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, Transport.LinkLimits.FrameBytes - FrameHeader.Size);
        return group.Links.Reserve(size);
    }

    public void Send(int rank, FrameType type, int length)
    {
        ThrowIfOthers(type);
        if (HasGap(rank)) return;
        group.Links.Head(type, length);
        group.Links.SendTo(rank);
    }

    public void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        ThrowIfOthers(type);
        Span<int> to = stackalloc int[ranks.Length];
        int count = 0;
        foreach (int rank in ranks)
            if (!HasGap(rank)) to[count++] = rank;
        if (count == 0) return;
        group.Links.Head(type, length);
        group.Links.SendTo(to[..count]);
    }

    private void ThrowIfOthers(FrameType type)
    {
        if (!frames.Has(type)) throw new ArgumentOutOfRangeException(nameof(type), type, $"This is no frame type of the layer {frames}.");
    }

    public void RequestView() => group.Membership.RequestView(View!.Group);

    public void Leave()
    {
        group.Touch();
        // Also called from inside OnLeaving, which has not said yet that it keeps the member.
        _letsGo = true;
        if (!KeepsMember || !group.IsHandingOver) return;
        KeepsMember = false;
        // Another layer may still have something to hand over.
        if (!group.IsHandingOver) group.OnHandedOver();
    }

    public void Suspect(int rank, Suspicion evidence)
    {
        // When the group is over, nobody would withdraw the suspicion.
        if (!group.IsOver) group.Suspicions.Suspect(group, View!.Members[rank].Id, evidence);
    }

    /// <summary>
    /// Whether frames of the layer to or from a member were lost in this view. A layer counts on every earlier frame being there, so none
    /// is sent or taken any more. Both ends check this: perhaps only one of them was in this view when it noticed the loss.
    /// </summary>
    private bool HasGap(int rank) => group.Links.HasLost(rank) && group.Rules.NoFrameBehindAGap;
}
