using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>
/// What this process holds against others, by who says so: the membership knows one accusation of each process against another, and takes it
/// back as a whole, while several groups, and several watches of one group, come to their own judgement of the same process.
/// </summary>
internal sealed class Accusations(IMembership membership)
{
    private readonly List<(object Source, ProcessId Subject, Accusation Evidence)> _held = [];

    public void Accuse(object source, ProcessId subject, Accusation evidence)
    {
        if (IndexOf(source, subject) >= 0) return;
        _held.Add((source, subject, evidence));
        membership.Accuse(subject, evidence);
    }

    /// <summary>One source takes back what it said; what others say stands.</summary>
    public void Withdraw(object source, ProcessId subject)
    {
        int index = IndexOf(source, subject);
        if (index < 0) return;
        var evidence = _held[index].Evidence;
        _held.RemoveAt(index);
        int other = _held.FindLastIndex(held => held.Subject == subject);
        if (other < 0) membership.Withdraw(subject);
        else if (_held[other].Evidence != evidence) membership.Accuse(subject, _held[other].Evidence);
    }

    /// <summary>One source takes back all that it said.</summary>
    public void WithdrawAll(object source)
    {
        while (_held.Find(held => ReferenceEquals(held.Source, source)) is { Source: not null } held) Withdraw(source, held.Subject);
    }

    private int IndexOf(object source, ProcessId subject) => _held.FindIndex(held => ReferenceEquals(held.Source, source) && held.Subject == subject);
}
