namespace Ida.Testing.Checking;

/// <summary>What <see cref="VirtualSynchronyChecker"/> demands beyond the guarantees.</summary>
public sealed record VirtualSynchronyOptions
{
    /// <summary>Whether joiners get a checkpoint, and deliver nothing before it. Default true; if false, they count as initialised at once.</summary>
    public bool StateTransfer { get; init; } = true;

    /// <summary>
    /// Whether the digests of all initialised members must be equal at each view. Set it when the state follows from the set of delivered messages or from ordered ones alone.
    /// Default false: a joiner's digest must equal that of any one of them.
    /// </summary>
    public bool StatesAgree { get; init; }

    /// <summary>
    /// Whether handlers may be some views behind their process, for example because they block: a message may then be sent in a view that its sender's handlers have not seen.
    /// </summary>
    internal bool HandlersLag { get; init; }

    /// <summary>Violations kept; more are only counted. Default 50.</summary>
    public int Most { get; init; } = 50;
}
