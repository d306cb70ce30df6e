using GroupCore.Groups.Shared;
using GroupCore.Membership;

namespace GroupCore.Groups.Flush;

/// <summary>The membership whose view ends: what a flush asks of it beyond what the view's other protocols do. On the loop.</summary>
internal interface IViewChange : IViewMember, IViewWitness
{
    /// <summary>Whether termination hooks have nothing more to do (R7).</summary>
    bool HooksEnded { get; }

    /// <summary>The members or the work that the view change waits for, when it takes long.</summary>
    IReadOnlyList<string> WaitsFor { set; }

    /// <summary>First wedge of this view: what was begun is sent out, and after that nothing is originated (R1).</summary>
    void BeginWedge();

    /// <summary>The view ends by that proposal, which may supersede an earlier one: the layers stop.</summary>
    void OnWedged(Proposal proposal);

    /// <summary>What the layers contribute, one part each; none where no layer is attached.</summary>
    IReadOnlyList<byte[]> Contribute();

    /// <summary>Has the users' termination hooks called; they must end within 2 s. Source: views-and-flush.md#a-hook-has-two-seconds-of-each-proposal.</summary>
    void StartHooks(Proposal proposal);

    /// <summary>Whether the flush of that proposal still goes on.</summary>
    bool IsInFlush(View view, Proposal proposal);
}
