namespace Ida;

/// <summary>What a node does after its exclusion (<c>OnExcluded</c>) or a fault (<c>OnFault</c>). Source: oracle.md#without-contact-a-process-blocks-then-ends.</summary>
public enum ExclusionPolicy
{
    /// <summary>The node stops: its groups are over, calls throw, <see cref="IdaNode.Completion"/> faults; the host decides what follows.</summary>
    Stop,

    /// <summary>The process ends: with exit code 70 when it was excluded; with 71 after a fault, which is written to standard error.</summary>
    Exit,

    /// <summary>The node begins a new life in the same process and calls <see cref="IdaNodeOptions.OnRejoined"/>.</summary>
    Rejoin,
}
