using GroupCore.Diagnostics;
using GroupCore.Transport.Mesh;

namespace GroupCore.Watching;

/// <summary>The parts of <see cref="Description"/> about a node's loop and links. Inside a turn.</summary>
internal static class NodeDescription
{
    public static void Describe(this NodeWatch watch, Description text)
    {
        text.Open($"loop: {watch.Turns} turns, the longest {(watch.LongestTurn == 0 ? "not measured without a logger" : Description.Time(watch.LongestTurn))}");
        NodeAttributes.All.Describe(text, watch);
        text.Close();
        if (watch.Node.Links is not ILinkUses links) return;
        LinkUse[] uses = [.. links.Uses.OrderBy(static use => use.Phase == LinkPhase.Up).ThenByDescending(static use => use.Backlog)];
        long now = watch.Node.Now;
        text.Open($"links: {uses.Length}, of which {uses.Count(static use => use.Phase == LinkPhase.Up)} are up; those that are not come first, then by what they hold");
        text.List(uses, uses.Length, (text, use) => text.Line(
            $"{use.Address} {use.NodeId:x16}: {use.Phase}, {use.Unsent} bytes to send, {use.Backlog} unacknowledged, {Heard(use, now)}{Notes(use)}"));
        text.Close();
    }

    private static string Heard(in LinkUse use, long now) => use.HeardAt is { } at ? $"last heard {Description.Time(now - at)} ago" : "never heard";

    private static string Notes(in LinkUse use) =>
        $"{(use.IsAskedFor ? "" : ", not asked for from here")}{(use.IsHeld ? ", held until its identity is known" : "")}{(use.IsForeign ? ", a stranger" : "")}";
}
