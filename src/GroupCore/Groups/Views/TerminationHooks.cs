using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>The termination hooks of a member in one proposal: each has a context of its own, and the flush waits for all of them. Source:
/// views-and-flush.md#a-hook-has-two-seconds-of-each-proposal.</summary>
internal sealed class TerminationHooks
{
    private readonly TerminationContext[] _contexts;
    private readonly bool[] _over;
    private int _open;
    private volatile bool _givenUp;

    public TerminationHooks(IHookPort group, Proposal proposal, View view, int count)
    {
        (_contexts, _over, _open) = (new TerminationContext[count], new bool[count], count);
        for (int i = 0; i < count; i++) _contexts[i] = new(group, proposal, view);
    }

    /// <summary>In the order in which the hooks were registered.</summary>
    public IReadOnlyList<TerminationContext> Contexts => _contexts;

    /// <summary>Whether the flush waits for one of them.</summary>
    public bool IsOpen => _open > 0;

    /// <summary>The view change went on without the hooks, or another one began; from any thread.</summary>
    public bool IsGivenUp => _givenUp;

    /// <summary>Whether that hook may still send. On the loop, like all methods below.</summary>
    public bool Awaits(TerminationContext context) => _open > 0 && Array.IndexOf(_contexts, context) is >= 0 and var index && !_over[index];

    /// <summary>That hook has nothing more to do; false when it is no longer waited for.</summary>
    public bool End(TerminationContext context)
    {
        if (!Awaits(context)) return false;
        _over[Array.IndexOf(_contexts, context)] = true;
        _open--;
        return true;
    }

    public void GiveUp() => (_open, _givenUp) = (0, true);
}
