namespace Ida.Testing.Checking;

/// <summary>Guarantees of groups that <see cref="VirtualSynchronyChecker"/> judges. G numbers: views-and-flush.md#what-it-guarantees, multicast.md#what-it-guarantees.</summary>
public enum GroupGuarantee
{
    /// <summary>What is delivered was sent, to this process, once; nothing is heard of a process after its end.</summary>
    Integrity,

    /// <summary>G1: one member list per view, installed in a run without gaps.</summary>
    ViewAgreement,

    /// <summary>G2: a process installs only views that it is in.</summary>
    SelfInclusion,

    /// <summary>G3: initialised survivors of a view delivered the same multicasts in it.</summary>
    VirtualSynchrony,

    /// <summary>G4: a message is delivered in the view it was sent in.</summary>
    SendingView,

    /// <summary>G5: nothing of a failed member is delivered after the view that removes it.</summary>
    Finalisation,

    /// <summary>G6: the multicasts of a survivor are delivered.</summary>
    NoLoss,

    /// <summary>G7: sender order per kind, and no ordered message before an earlier FIFO one of its sender.</summary>
    SenderOrder,

    /// <summary>G9: one order of ordered messages.</summary>
    TotalOrder,

    /// <summary>G12: what a process had delivered or sent before a flush that returned is delivered by every survivor, order included.</summary>
    Flush,

    /// <summary>G13: a joiner starts from the state of an initialised survivor at the same view.</summary>
    StateTransfer,

    /// <summary>G14: messages between survivors are received once, in order, in their view.</summary>
    PeerMessages,

    /// <summary>At rest every live member has installed the last view that contains it.</summary>
    Progress,
}
