using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// The bytes that callers' operations hold in flight. An operation takes a share together with its place in flight. The share grows by what answers bring; the operation gives it back
/// at its end, and while it waits.
/// </summary>
/// <remarks>
/// How much a read will bring is not known beforehand: each of its keys counts as many bytes as recent reads brought per key (a maximum that decays). Operations that are due (their wait is
/// over, and they need a place again) have bytes reserved: at most half of all, or what the largest of them needs.
/// </remarks>
internal sealed class ByteShares(long most)
{
    private const long MostGuess = 4 * DhtLimits.PartBytes;
    private long _perKey = DhtLimits.ValueBytes;
    private long _dueBytes, _mostDue;

    /// <summary>Bytes of all shares.</summary>
    public long Taken { get; private set; }

    /// <summary>Number of operations that are due.</summary>
    public int Due { get; private set; }

    /// <summary>Whether answers have brought so much more than was expected that further ones are refused.</summary>
    public bool AreExceeded => Taken > 2 * most;

    /// <summary>Whether an operation may take a share beside those that are due.</summary>
    public bool FitBeside(ClientOperation op) => Taken + Math.Min(_dueBytes, Math.Max(most / 2, _mostDue)) + Guess(op) <= most;

    /// <summary>Whether an operation may take a share.</summary>
    public bool Fit(ClientOperation op) => Taken + Guess(op) <= most;

    public void Take(ClientOperation op)
    {
        op.AnswerBytes = 0;
        op.Charge = Guess(op);
        Taken += op.Charge;
    }

    /// <summary>The operation is over.</summary>
    public void Return(ClientOperation op)
    {
        Taken -= op.Charge;
        if (BringsValues(op) && (op.AnswerBytes > 0 || IsAnswered(op))) _perKey = Math.Max(op.AnswerBytes / op.PartCount, _perKey - (_perKey >> 3));
    }

    /// <summary>The operation waits: it holds the bytes asked and answered so far, but not those that an answer may bring, and what it holds is no share.</summary>
    public void Lend(ClientOperation op)
    {
        Taken -= op.Charge;
        op.Charge = op.AskedBytes + op.AnswerBytes;
    }

    /// <summary>Counts bytes of values in an answer.</summary>
    public void Count(ClientOperation op, int bytes)
    {
        op.AnswerBytes += bytes;
        long more = op.AskedBytes + op.AnswerBytes - op.Charge;
        if (more <= 0 || op.IsParked) return;
        op.Charge += more;
        Taken += more;
    }

    /// <summary>Reserves the bytes that the operation will ask for, which for a read are not those it holds. Remembers the amount, since the estimate for reads may change.</summary>
    public void SetDue(ClientOperation op, bool due)
    {
        _dueBytes -= op.DueBytes;
        op.DueBytes = due ? Guess(op) : 0;
        _dueBytes += op.DueBytes;
        if (op.IsDue != due) Due += due ? 1 : -1;
        op.IsDue = due;
        _mostDue = Due == 0 ? 0 : Math.Max(_mostDue, op.DueBytes);
    }

    private long Guess(ClientOperation op) => op.AskedBytes + (BringsValues(op) ? Math.Min(op.PartCount * _perKey, MostGuess) : 0);

    private static bool BringsValues(ClientOperation op) => !op.Kind.Changes || op.TellsValue;

    // An answer without bytes counts too: one from this member's slice, or one with empty values.
    private static bool IsAnswered(ClientOperation op)
    {
        for (int i = 0; i < op.PartCount; i++)
            if (!op.Parts[i].HasResult) return false;
        return true;
    }
}
