using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Testing;

/// <summary>The links of one life of a node over the simulated network.</summary>
internal sealed class SimLinks(SimNode owner) : ILinks
{
    private readonly List<SimLinkEnd> _ends = [];
    private readonly List<SimLinkEnd> _dirty = [];
    private readonly Dictionary<string, List<SimLinkEnd>> _byAddress = new(StringComparer.Ordinal);
    private byte[] _frame = new byte[1024];

    public NodeAddress Local => owner.Address;

    public IReadOnlyList<SimLinkEnd> Ends => _ends;

    public bool HasStaged => _dirty.Count > 0;

    public int Open(NodeAddress address, ulong nodeId = 0)
    {
        ArgumentException.ThrowIfNullOrEmpty(address.Text, nameof(address));
        if (Find(address, nodeId) is { } known)
        {
            known.Expect(nodeId);
            return known.Number;
        }
        var end = Add(address, nodeId);
        end.Dial();
        return end.Number;
    }

    public void Close(int peer) => _ends[peer].Close();

    public void Probe(int peer) => _ends[peer].Probe();

    public ulong NodeIdOf(int peer) => _ends[peer].NodeId;

    public NodeAddress AddressOf(int peer) => _ends[peer].Address;

    public long Backlog(int peer) => _ends[peer].Backlog;

    public Span<byte> Reserve(int size)
    {
        if (size is < FrameHeader.Size or > LinkLimits.FrameBytes)
            throw new ArgumentOutOfRangeException(nameof(size), size, $"A frame has {FrameHeader.Size} to {LinkLimits.FrameBytes} bytes.");
        if (size > _frame.Length) _frame = new byte[Math.Max(size, _frame.Length * 2)];
        return _frame.AsSpan(0, size);
    }

    public void Send(int peer, int length) => Stage(peer, Frame(length));

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        var frame = Frame(length);
        foreach (int peer in peers) Stage(peer, frame);
    }

    /// <summary>The end of a turn: one write per peer leaves.</summary>
    public void Flush(long departure)
    {
        foreach (var end in _dirty) end.Write(departure);
        _dirty.Clear();
    }

    /// <summary>The end for a node that dialled, new or known; ends for earlier lives at its address are over.</summary>
    public SimLinkEnd Accept(SimLinkEnd dialler)
    {
        SimLinkEnd? found = null;
        if (_byAddress.TryGetValue(dialler.Owner.Address.Text, out var ends))
        {
            foreach (var end in ends)
            {
                if (end.IsOver) continue;
                if (end.NodeId != 0 && end.NodeId != dialler.Owner.Id) end.End(LinkFault.Replaced);
                else if (end.Other is not null && end.Other != dialler) end.End(LinkFault.Rejected);
                else found = end;
            }
        }
        return found ?? Add(dialler.Owner.Address, dialler.Owner.Id);
    }

    private SimLinkEnd? Find(NodeAddress address, ulong nodeId)
    {
        if (!_byAddress.TryGetValue(address.Text, out var ends)) return null;
        for (int i = ends.Count - 1; i >= 0; i--)
        {
            var end = ends[i];
            if (!end.IsOver && (nodeId == 0 || end.NodeId == 0 || end.NodeId == nodeId)) return end;
        }
        return null;
    }

    private SimLinkEnd Add(NodeAddress address, ulong nodeId)
    {
        var end = new SimLinkEnd(owner, _ends.Count, address, nodeId);
        _ends.Add(end);
        if (!_byAddress.TryGetValue(address.Text, out var ends)) _byAddress[address.Text] = ends = [];
        ends.RemoveAll(static old => old.IsOver);
        ends.Add(end);
        return end;
    }

    private ReadOnlySpan<byte> Frame(int length)
    {
        var frame = _frame.AsSpan(0, length);
        if (!FrameHeader.TryRead(frame, out var header) || header.BodyLength + FrameHeader.Size != length)
            throw new InvalidOperationException($"{owner.Name} sends {length} bytes that are not one frame.");
        return frame;
    }

    private void Stage(int peer, ReadOnlySpan<byte> frame)
    {
        var end = _ends[peer];
        if (end.Stage(frame)) _dirty.Add(end);
        owner.Wake();
    }
}
