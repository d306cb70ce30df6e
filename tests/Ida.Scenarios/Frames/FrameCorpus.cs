using GroupCore.Basics;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Frames that once did harm, as text: what happened, who sent them to which node, and a line for each frame with its mutation, its type
/// and its bytes.
/// </summary>
internal static class FrameCorpus
{
    private const char Comment = '#';

    public static string Write(string failure, FrameBatch batch, IEnumerable<string> lines) =>
        string.Join('\n', [$"{Comment} {failure.ReplaceLineEndings(" ")}", $"{batch.Persona} {batch.Victim}", .. lines]);

    public static string Line(HostileFrame frame, FrameContext context) => $"{frame.Mutation} {frame.Type} {FrameText.Write(frame.Bytes, context)}";

    /// <summary>Sends the frames of a text to a system. Null, or how the node failed to take them.</summary>
    public static string? Send(string text, FrameVictims system)
    {
        string[][] lines = [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).Where(line => line[0] != Comment).Select(line => line.Split(' '))];
        var persona = Enum.Parse<Persona>(lines[0][0]);
        var victim = system.Members[int.Parse(lines[0][1], System.Globalization.CultureInfo.InvariantCulture)];
        using var stranger = new Stranger(victim, system.NameOf(persona, Entropy.Next()), 1);
        if (stranger.Learn(system, persona == Persona.Registering) is not { } context) return $"{victim.Node.Id} does not answer a stranger's question: {stranger.Refusal}";
        stranger.Write(FrameSource.Bind(context));
        foreach (string[] line in lines.Skip(1))
        {
            var (mutation, type) = (Enum.Parse<Mutation>(line[0]), Enum.Parse<FrameType>(line[1]));
            var frame = new HostileFrame(type, mutation, FrameText.Read(line[2], context), mutation == Mutation.Framing || FrameSource.IsOfLink(type));
            if (!stranger.Write(frame)) return $"{victim.Node.Id} neither ends nor takes a connection after {type} with {mutation}: {stranger.Refusal}";
        }
        return stranger.Settle() ? null : $"{victim.Node.Id} does not read on";
    }
}
