namespace Ida.Testing.Checking;

/// <summary>The order a multicast was sent with.</summary>
public enum MulticastKind
{
    /// <summary>In the order of its sender.</summary>
    Fifo,

    /// <summary>In one total order of the view.</summary>
    Ordered,
}
