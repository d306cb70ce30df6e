using GroupCore.Membership;

namespace GroupCore.Groups.Shared;

/// <summary>
/// What the groups of this process suspect others of, by source. Several groups, and several watches of one group, judge the same process each for
/// themselves; the membership takes one suspicion of a process, and withdraws it as a whole. Slowness is told only if nothing else is held against a
/// process: slow handlers are no dispute between two members, and would hide a dispute.
/// </summary>
internal sealed class Suspicions(IMembership membership)
{
    private readonly List<(object Source, ProcessId Subject, Suspicion Evidence)> _held = [];

    public void Suspect(object source, ProcessId subject, Suspicion evidence)
    {
        if (IndexOf(source, subject) >= 0) return;
        var told = Told(subject);
        _held.Add((source, subject, evidence));
        Tell(subject, told);
    }

    /// <summary>One source withdraws its suspicion; those of other sources stand.</summary>
    public void Withdraw(object source, ProcessId subject)
    {
        int index = IndexOf(source, subject);
        if (index < 0) return;
        var told = Told(subject);
        _held.RemoveAt(index);
        Tell(subject, told);
    }

    /// <summary>One source withdraws all its suspicions.</summary>
    public void WithdrawAll(object source)
    {
        while (_held.Find(held => ReferenceEquals(held.Source, source)) is { Source: not null } held) Withdraw(source, held.Subject);
    }

    private void Tell(ProcessId subject, Suspicion? told)
    {
        var evidence = Told(subject);
        if (evidence is null) membership.Withdraw(subject);
        else if (evidence != told) membership.Suspect(subject, evidence.Value);
    }

    private Suspicion? Told(ProcessId subject)
    {
        int index = _held.FindLastIndex(held => held.Subject == subject && held.Evidence != Suspicion.Slow);
        if (index < 0) index = _held.FindLastIndex(held => held.Subject == subject);
        return index < 0 ? null : _held[index].Evidence;
    }

    private int IndexOf(object source, ProcessId subject) => _held.FindIndex(held => ReferenceEquals(held.Source, source) && held.Subject == subject);
}
