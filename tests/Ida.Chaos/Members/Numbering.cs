namespace Ida.Chaos.Members;

/// <summary>
/// Numbers of the messages that a sender sends on one way: a message that was not sent leaves its number to the next one. Where it is not known whether one was sent, the
/// numbers begin anew, and the next message says so.
/// </summary>
internal sealed class Numbering
{
    private bool _anew;

    /// <summary>The last number that a message was sent under; 0 where nobody can know.</summary>
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

    /// <summary>What was sent last may be known to nobody.</summary>
    public void BeginAnew() => _anew = true;
}
