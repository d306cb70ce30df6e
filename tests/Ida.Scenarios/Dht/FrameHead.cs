using Ida.Shared;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>The head of frames about an attempt, for tests that write such frames by hand.</summary>
internal static class FrameHead
{
    /// <param name="to">Where it is written to.</param>
    /// <param name="owner">Rank of the member of the session; less than 0 if no member has it.</param>
    /// <param name="key">The attempt.</param>
    public static void Write(ref BodyWriter to, int owner, in AttemptId key)
    {
        to.U16(owner < 0 ? ushort.MaxValue : (ushort)owner);
        if (owner < 0) to.U128(key.Id.Session);
        to.Var(key.Id.Sequence);
        to.Var(((ulong)key.Attempt << 1) | (key.Payload != 0 ? 1UL : 0));
        if (key.Payload != 0) to.U64(key.Payload);
    }

    /// <summary>Reads a proposal up to its keys: whether it is of a put, and how many keys it has.</summary>
    public static (bool IsPut, int Keys) SkipProposal(ref BodyReader from)
    {
        if (from.U16() == ushort.MaxValue) _ = from.U128();
        _ = from.Var();
        if ((from.Var() & 1) != 0) _ = from.U64();
        bool put = (from.U8() & 1) != 0;
        if (put) _ = from.U64();
        _ = from.Var();
        _ = from.U64();
        for (ulong slots = from.Var(); slots > 0; slots--) _ = from.Var();
        return (put, from.Count(DhtLimits.Keys, 1));
    }
}
