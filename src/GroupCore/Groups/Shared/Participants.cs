using GroupCore.Membership;

namespace GroupCore.Groups.Shared;

/// <summary>The members that take part in the flush of a view, by rank in it: the survivors and leavers of its latest proposal.</summary>
internal sealed class Participants(View view)
{
    private readonly bool[] _takesPart = new bool[view.Members.Count];

    /// <summary>The proposal that wedged this member, null in normal operation.</summary>
    public Proposal? Proposal { get; private set; }

    /// <summary>The number of that proposal, 0 in normal operation.</summary>
    public ulong Wedge => Proposal?.Number ?? 0;

    public int Count => _takesPart.Length;

    public bool this[int rank] => _takesPart[rank];

    /// <summary>The flush begins, or begins again with a higher proposal.</summary>
    public void Begin(Proposal proposal)
    {
        Proposal = proposal;
        Array.Clear(_takesPart);
        foreach (var id in proposal.Survivors) Mark(id);
        foreach (var id in proposal.Leavers) Mark(id);
    }

    private void Mark(ProcessId id)
    {
        if (view.RankOf(id) is >= 0 and var rank) _takesPart[rank] = true;
    }
}
