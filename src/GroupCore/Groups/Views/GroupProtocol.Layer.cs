using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>The protocol above the group, if one is attached.</summary>
internal sealed partial class GroupProtocol : IGroupPort
{
    private readonly List<ILayerAttachment> _attaching = [];
    private IGroupLayer? _layer;
    private byte[] _scratch = [];

    public bool HasLayer => _layer is not null;

    bool IGroupPort.Wedged => IsWedged;

    ProcessId IGroupPort.Self => Membership.Self;

    public bool HoldsLease => !_blocked && _over is null && View is { } view && (!view.Options.StrictPrimary || Membership.LeaseUntil > Node.Clock());

    /// <summary>Attaches the layer; while wedged it waits for the next view, since this member's report has gone out without a contribution.</summary>
    public void Attach(ILayerAttachment attachment)
    {
        Touch();
        if (CallError is { } error) attachment.Fail(error);
        else if (_layer is not null || _attaching.Count > 0) attachment.Fail(new InvalidOperationException($"Group '{Name}' has a layer already."));
        else if (View is null || IsWedged) _attaching.Add(attachment);
        else AttachNow(attachment);
    }

    private void AttachNow(ILayerAttachment attachment)
    {
        // Nobody would ask the layer any more whether this member may leave.
        if (_life.IsGoing || _host.Departs)
        {
            attachment.Fail(new NotMemberException(Name, _life.IsGoing ? "it is leaving" : ProcessLeaves));
            return;
        }
        _layer = attachment.Create(this);
        if (_layer is null) return;
        _layer.OnInstalled(View!, []);
        if (_blocked) _layer.OnBlocked(true);
        Node.Complete(attachment);
    }

    private void InstallLayer(View view, List<LayerContribution> contributions)
    {
        _layer?.OnInstalled(view, contributions);
        if (_attaching.Count == 0) return;
        var attachment = _attaching[0];
        _attaching.Clear();
        AttachNow(attachment);
    }

    public void WedgeLayer(Proposal proposal) => _layer?.OnWedged(proposal);

    public void Contribute(ArrayBufferWriter<byte> into)
    {
        _layer!.Contribute(into);
        if (into.WrittenCount > GroupLimits.ContributionBytes)
            throw new InvalidOperationException($"A layer contributed {into.WrittenCount} bytes; at most {GroupLimits.ContributionBytes} are allowed.");
    }

    private void OnLayerFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (_layer is not null && !IsWedged && !HasGap(rank)) _layer.OnFrame(rank, type, body);
        else Node.Counters.Refuse(RefusalReason.Unexpected);
    }

    long IGroupPort.Room(int rank) => _here[rank] ? RoomTo(rank) : 0;

    Span<byte> IGroupPort.Reserve(int size)
    {
        Touch();
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, Transport.LinkLimits.FrameBytes - FrameHeader.Size);
        if (_scratch.Length < size) _scratch = new byte[Math.Max(size, Math.Max(4_096, _scratch.Length * 2))];
        return _scratch.AsSpan(0, size);
    }

    void IGroupPort.Send(int rank, FrameType type, int length)
    {
        if (HasGap(rank)) return;
        _scratch.AsSpan(0, length).CopyTo(Frame(type, length));
        SendTo(rank);
    }

    void IGroupPort.Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        Span<int> peers = stackalloc int[ranks.Length];
        int count = 0;
        foreach (int rank in ranks)
            if (!HasGap(rank)) peers[count++] = _peers[rank];
        if (count == 0) return;
        _scratch.AsSpan(0, length).CopyTo(Frame(type, length));
        Node.Links.Send(peers[..count], _frameLength);
    }

    void IGroupPort.RequestView() => Membership.RequestView(View!.Group);

    void IGroupPort.Leave()
    {
        Touch();
        if (!IsHandingOver) return;
        _layerKeeps = false;
        if (_leavingSoon) LimitLeave();
        TryAnnounceLeave();
    }

    void IGroupPort.Suspect(int rank, Suspicion evidence)
    {
        // When the group is over, nobody would withdraw it.
        if (!IsOver) Suspicions.Suspect(this, View!.Members[rank].Id, evidence);
    }
}
