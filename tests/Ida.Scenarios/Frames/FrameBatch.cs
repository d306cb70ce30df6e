using GroupCore.Runtime;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Frames that one stranger sends to one node of a system. Drawn from a seed, so that some of them can be sent again to another system.
/// </summary>
internal sealed record FrameBatch(ulong Seed, int Count, int Victim, Persona Persona)
{
    /// <summary>Share of frames with a lie in their framing that ends a connection: few, or nothing else would be read.</summary>
    private const double Breaking = 0.01;

    // This many questions have more answers than a node keeps for a stranger.
    private const int Questions = 1_000;

    public static FrameBatch Of(ulong seed, long index, int count)
    {
        var random = new Prng(seed ^ (0x9E3779B97F4A7C15UL * (ulong)(index + 1)));
        return new(random.NextUInt64(), count, random.Next(3), random.Next(8) switch { < 2 => Persona.Former, 2 => Persona.Registering, 3 => Persona.Deaf, _ => Persona.Stranger });
    }

    /// <summary>Sends the frames whose numbers are in <paramref name="chosen"/>, or all. Null, or how the victim failed to take them.</summary>
    public string? Send(FrameVictims system, IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> samples, IReadOnlySet<int>? chosen,
        Action<HostileFrame, FrameContext>? onFrame = null)
    {
        var random = new Prng(Seed);
        var victim = system.Members[Victim];
        using var stranger = new Stranger(victim, system.NameOf(Persona, Persona == Persona.Former ? 0 : random.NextUInt64()), random.NextUInt64() | 1);
        if (stranger.Learn(system, Persona == Persona.Registering) is not { } context) return $"{victim.Node.Id} does not answer a stranger's question: {stranger.Refusal}";
        bool deaf = Persona == Persona.Deaf;
        int asked = 0;
        var source = new FrameSource(context, samples, random, deaf ? 0 : Breaking);
        stranger.Write(FrameSource.Bind(context));
        stranger.IsDeaf = deaf;
        for (int i = 0; i < Count; i++)
        {
            var frame = source.Next();
            if (chosen is not null && !chosen.Contains(i)) continue;
            onFrame?.Invoke(frame, context);
            if (deaf) asked += stranger.Ask() ? 1 : 0;
            if (!stranger.Write(frame)) return $"{victim.Node.Id} neither ends nor takes a connection after frame {i}, {frame.Type} with {frame.Mutation}: {stranger.Refusal}";
        }
        if (asked > Questions && !stranger.AskUntilEnd()) return $"{victim.Node.Id} keeps the answers to {asked} questions of a stranger that takes none";
        stranger.IsDeaf = false;
        return stranger.Settle() ? null : $"{victim.Node.Id} does not read on";
    }
}
