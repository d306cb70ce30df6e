namespace Ida.Testing;

/// <summary>One direction of a connection: what is on its way from one end to the other.</summary>
internal abstract class SimChannel(IChannelEnd from)
{
    private long _lastDeparture;

    /// <summary>When the last write on its way arrives; a time before now if there is none.</summary>
    public long LastArrival { get; set; }

    protected IChannelEnd From => from;

    protected ISimulation Simulation => from.Owner.Simulation;

    protected LinkModel Model => Simulation.Options.Link;

    /// <summary>Takes a write over and sends it on its way.</summary>
    public abstract void Send(Packet packet, long departure);

    /// <summary>The connection is gone, and everything on its way with it.</summary>
    public abstract void Clear();

    /// <summary>The sender died: what is on its way arrives up to a random byte.</summary>
    public abstract void Truncate();

    /// <summary>A cut of this way was healed.</summary>
    public abstract void Healed();

    protected CutMode? Cut => Simulation.Network.CutBetween(from.Owner.Host, from.Remote);

    /// <summary>When a write has left a sender whose bandwidth is limited.</summary>
    protected long Departed(Packet packet, long departure)
    {
        _lastDeparture = Math.Max(departure, _lastDeparture);
        if (Model.BytesPerSecond > 0) _lastDeparture += (long)(packet.Length * 1e9 / Model.BytesPerSecond);
        return _lastDeparture;
    }
}
