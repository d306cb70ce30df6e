using Ida.Ordering;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>The head of frames about an attempt, for who writes them by hand.</summary>
internal static class FrameHead
{
    /// <param name="to">What is written to.</param>
    /// <param name="owner">Rank of the member of the session; less than 0 where it is none's.</param>
    /// <param name="key">The attempt.</param>
    public static void Write(ref BodyWriter to, int owner, in OpKey key)
    {
        to.U16(owner < 0 ? ushort.MaxValue : (ushort)owner);
        if (owner < 0) to.U128(key.Id.Session);
        to.Var(key.Id.Sequence);
        to.Var(((ulong)key.Attempt << 1) | (key.Payload != 0 ? 1UL : 0));
        if (key.Payload != 0) to.U64(key.Payload);
    }
}
