using System.Buffers;
using GroupCore.Diagnostics;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Maps;

namespace Ida;

/// <summary>
/// The layer that stays attached to the group for the group's life. It passes everything to the DHT that is enabled at this member, if there is one, so
/// after a DHT has ended (closed, depopulated) a new one can be enabled.
/// </summary>
internal sealed class DhtHost(IGroupPort port) : IGroupLayer
{
    private View? _view;
    private bool _wedged, _blocked, _leaving;
    private Exception? _over;

    public INode Node => port.Node;

    public DhtLayer? Current { get; private set; }

    /// <summary>Makes and starts a DHT, inside a turn.</summary>
    public Dht Enable(DhtOptions options, DeclaredMaps maps, long clockOffset)
    {
        if (Current is { IsOver: false }) throw new InvalidOperationException("The DHT is enabled already in this group at this member.");
        // The new DHT would not be asked to hand over any more.
        if (_leaving) throw new NotDhtMemberException("This process is leaving the group.");
        var layer = new DhtLayer(port, options, maps, clockOffset);
        var dht = new Dht(layer, options, maps);
        Current = layer;
        layer.State.Wedged = _wedged;
        if (_blocked) layer.OnBlocked(true);
        if (_over is not null) layer.OnOver(_over);
        else if (!_wedged && _view is not null) layer.OnInstalled(_view, []);
        return dht;
    }

    public void OnWedged(Proposal proposal)
    {
        _wedged = true;
        Current?.OnWedged(proposal);
    }

    public void Contribute(IBufferWriter<byte> into) => Current?.Contribute(into);

    public void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions)
    {
        (_wedged, _view) = (false, view);
        Current?.OnInstalled(view, contributions);
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body) => Current?.OnFrame(rank, type, body);

    public void OnRoom(int rank) => Current?.OnRoom(rank);

    public void OnBlocked(bool blocked)
    {
        _blocked = blocked;
        Current?.OnBlocked(blocked);
    }

    public bool OnLeaving()
    {
        _leaving = true;
        return Current is null || Current.BeginLeaving(group: true);
    }

    public void EndOfTurn() => Current?.EndOfTurn();

    public void Describe(Description text) => Current?.Describe(text);

    public void Look(long now)
    {
        if (Current is { IsOver: false } layer) layer.Watch.Look(now);
    }

    public void OnOver(Exception reason)
    {
        _over = reason;
        Current?.OnOver(reason);
    }
}
