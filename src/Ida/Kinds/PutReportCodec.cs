using System.Text;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>
/// A report as bytes: its kind u8 (0 none, 1 not met, 2 failed, 3 applied and removed, 4 applied and stored); then, if the put was not applied,
/// the key that kept it from that, and if it failed the error; if a value was stored, that value.
/// </summary>
internal static class PutReportCodec
{
    public const byte None = 0, NotMet = 1, Failed = 2, Removed = 3, Stored = 4;

    /// <summary>Bytes of a report, at most.</summary>
    public static int SizeOf(PutReport? report) => report is null ? 1 : 12 + (4 * (report.Error?.Length ?? 0)) + (report.Value?.Length ?? 0);

    public static void Write(ref BodyWriter to, PutReport? report)
    {
        if (report is null)
        {
            to.U8(None);
            return;
        }
        switch (report.Verdict)
        {
            case Verdict.NotMet:
                to.U8(NotMet);
                to.Var((ulong)report.Culprit);
                break;
            case Verdict.Failed:
                to.U8(Failed);
                to.Var((ulong)report.Culprit);
                // Errors are rare: they may allocate.
                to.Blob(Encoding.UTF8.GetBytes(report.Error ?? ""));
                break;
            case Verdict.Applied when report.Value is { } value:
                to.U8(Stored);
                to.Blob(value);
                break;
            default:
                to.U8(Removed);
                break;
        }
    }

    /// <summary>Reads a report on a part of <paramref name="keys"/> keys; the reader fails on anything else.</summary>
    public static PutReport? Read(ref BodyReader from, int keys)
    {
        byte kind = from.U8();
        int culprit = kind is NotMet or Failed ? from.Count(keys - 1, 0) : 0;
        switch (kind)
        {
            case None: return null;
            case NotMet: return new(Verdict.NotMet, culprit, null, null);
            case Failed: return new(Verdict.Failed, culprit, DhtLimits.Cut(Encoding.UTF8.GetString(from.Blob(4 * DhtLimits.ErrorChars))), null);
            case Removed: return new(Verdict.Applied, 0, null, null);
            case Stored: return new(Verdict.Applied, 0, null, from.Blob(DhtLimits.ValueBytes).ToArray());
            default:
                from.Fail();
                return null;
        }
    }

    /// <summary>Skips a report; the reader fails on anything else.</summary>
    public static void Skip(ref BodyReader from, int keys)
    {
        byte kind = from.U8();
        if (kind > Stored) from.Fail();
        if (kind is NotMet or Failed) _ = from.Count(keys - 1, 0);
        if (kind == Failed) _ = from.Blob(4 * DhtLimits.ErrorChars);
        if (kind == Stored) _ = from.Blob(DhtLimits.ValueBytes);
    }
}
