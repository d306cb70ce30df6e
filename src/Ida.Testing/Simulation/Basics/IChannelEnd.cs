namespace Ida.Testing;

/// <summary>One end of a connection, as seen by the channel that carries what this end sends.</summary>
internal interface IChannelEnd
{
    ISimNode Owner { get; }

    /// <summary>Where the other end is.</summary>
    SimHost Remote { get; }

    /// <summary>Whether somebody is there to send again what a cut has held up, when the cut heals.</summary>
    bool SendsAgain { get; }

    /// <summary>How long the next write takes.</summary>
    long Latency();

    long Choose(long bound);

    bool Chance(double probability);

    /// <summary>A write has reached the other end.</summary>
    void Reached(Packet packet);

    /// <summary>Resets the connection at both ends.</summary>
    void Break();
}
