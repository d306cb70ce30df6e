using Ida.Shared;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>What an operation does to one of its keys, as it is proposed; the value that it brings is kept beside the deed.</summary>
/// <param name="Effect">What is done.</param>
/// <param name="Resolver">Identity of the resolver of a merge.</param>
/// <param name="Expects">Whether the put is applied only if the key has the version <paramref name="Expected"/>.</param>
/// <param name="Expected">0 stands for an absent key.</param>
internal readonly record struct KeyDeed(KeyEffect Effect, ulong Resolver = 0, bool Expects = false, ulong Expected = 0)
{
    /// <summary>In the byte of the effect: an expected version follows.</summary>
    public const byte Expectation = 0x80;

    /// <summary>Effect, expected version and arguments without the value, at most.</summary>
    public const int Bytes = 1 + 10 + 8;

    /// <summary>Whether this deed may keep the operation's deeds to other keys of the shard from being done.</summary>
    public bool MayStop => Expects || Effect.MayFail;

    /// <summary>The hash of a pair of key and value with this deed, for the hash that names a put: everything that is done must go into it.</summary>
    public ulong Hash(ReadOnlySpan<byte> keyAndValue, int key)
    {
        ulong pair = StableHash.Of(keyAndValue, Resolver ^ ((ulong)(uint)(keyAndValue.Length - key) << 32) ^ (uint)key);
        pair = PutPayload.With(pair, Effect.Number);
        return Expects ? PutPayload.With(pair, Expected) : pair;
    }

    /// <summary>The effect u8 with a bit for an expectation, expected version var if there is one, the arguments.</summary>
    public void Write(ref BodyWriter to, ReadOnlySpan<byte> incoming)
    {
        to.U8((byte)(Effect.Number | (Expects ? Expectation : 0)));
        if (Expects) to.Var(Expected);
        Effect.WriteArguments(ref to, incoming, Resolver);
    }

    /// <summary>Reads what <see cref="Write"/> has written. False if it is no deed. Untrusted.</summary>
    public static bool TryRead(ref BodyReader from, out KeyDeed deed, out ReadOnlySpan<byte> incoming)
    {
        byte first = from.U8();
        bool expects = (first & Expectation) != 0;
        ulong expected = expects ? from.Var() : 0;
        deed = default;
        incoming = default;
        if (KeyEffect.Find(first & ~Expectation) is not { } effect) return false;
        effect.ReadArguments(ref from, out incoming, out ulong resolver);
        deed = new(effect, resolver, expects, expected);
        return !from.Failed && (expects || !effect.MustExpect);
    }
}
