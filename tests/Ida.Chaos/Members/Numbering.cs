namespace Ida.Chaos.Members;

/// <summary>
/// Numbers of the messages that a sender sends on one way: a message that was not sent leaves its number to the next one. If it is not known whether one was sent, the
/// numbers rise all the same, and the next message says that those before it may be missing.
/// </summary>
internal sealed class Numbering
{
    private bool _anew;

    /// <summary>The number of the last message that was sent; 0 if nobody can know it.</summary>
    public ulong Last => _anew ? 0 : Sent;

    private ulong Sent { get; set; }

    /// <summary>The next number, and whether those before it may be missing.</summary>
    public (ulong Number, bool Anew) Next => (Sent + 1, _anew);

    public void Note(CallEnd end)
    {
        if (end == CallEnd.NotDone) return;
        Sent++;
        _anew = end == CallEnd.Perhaps;
    }

    /// <summary>Nobody may know what was sent last: the next message says so.</summary>
    public void BeginAnew() => _anew = true;
}
