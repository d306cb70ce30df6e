using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>
/// What this process holds against others, by who says so: the membership knows one accusation of each process against another, and takes it
/// back as a whole, while several groups, and several watches of one group, come to their own judgement of the same process. That it is slow is told
/// where nothing else is held against it: slow handlers are no quarrel of a pair, and would hide one.
/// </summary>
internal sealed class Accusations(IMembership membership)
{
    private readonly List<(object Source, ProcessId Subject, Accusation Evidence)> _held = [];

    public void Accuse(object source, ProcessId subject, Accusation evidence)
    {
        if (IndexOf(source, subject) >= 0) return;
        var told = Told(subject);
        _held.Add((source, subject, evidence));
        Tell(subject, told);
    }

    /// <summary>One source takes back what it said; what others say stands.</summary>
    public void Withdraw(object source, ProcessId subject)
    {
        int index = IndexOf(source, subject);
        if (index < 0) return;
        var told = Told(subject);
        _held.RemoveAt(index);
        Tell(subject, told);
    }

    /// <summary>One source takes back all that it said.</summary>
    public void WithdrawAll(object source)
    {
        while (_held.Find(held => ReferenceEquals(held.Source, source)) is { Source: not null } held) Withdraw(source, held.Subject);
    }

    private void Tell(ProcessId subject, Accusation? told)
    {
        var evidence = Told(subject);
        if (evidence is null) membership.Withdraw(subject);
        else if (evidence != told) membership.Accuse(subject, evidence.Value);
    }

    private Accusation? Told(ProcessId subject)
    {
        int index = _held.FindLastIndex(held => held.Subject == subject && held.Evidence != Accusation.Slow);
        if (index < 0) index = _held.FindLastIndex(held => held.Subject == subject);
        return index < 0 ? null : _held[index].Evidence;
    }

    private int IndexOf(object source, ProcessId subject) => _held.FindIndex(held => ReferenceEquals(held.Source, source) && held.Subject == subject);
}
