namespace Ida.Testing;

/// <summary>What becomes of what is sent over a cut.</summary>
public enum CutMode
{
    /// <summary>It waits and arrives after the cut heals, as retransmissions do.</summary>
    Hold,

    /// <summary>It is lost, and connections that lost something break when the cut heals; links then resume.</summary>
    Drop,
}
