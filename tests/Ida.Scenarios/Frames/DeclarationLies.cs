using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.ViewChange;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// False declarations at a view change, which no honest member sends: another shape of a map that others have, too, very many maps, none, and declarations that nobody can make.
/// </summary>
internal static class DeclarationLies
{
    // Proposal, rank and part stand before what the layer says.
    private const int Part = 11;

    /// <summary>The body of the frame with other declarations; null where it has none.</summary>
    public static byte[]? Draw(byte[] body, Prng random)
    {
        if (body.Length <= Part || LayerFrames.ReadHead(body.AsSpan(Part), out int head) != DhtFrame.Layer || Contribution.Read(default, body.AsSpan(Part + head)) is not { } truth) return null;
        var declared = truth.Maps.Bytes;
        int at = body.AsSpan().IndexOf(declared);
        if (at <= Part + head) return null;
        byte[] lie = Draw(truth.Maps, random);
        var to = new BodyWriter(new byte[body.Length + lie.Length + 10]);
        to.Raw(body.AsSpan(0, at - (declared.Length < 1 << 7 ? 1 : declared.Length < 1 << 14 ? 2 : 3)));
        to.Blob(lie);
        to.Raw(body.AsSpan(at + declared.Length));
        return to.Written.ToArray();
    }

    private static byte[] Draw(MapSet truth, Prng random)
    {
        var first = truth.All[0];
        return random.Next(9) switch
        {
            0 => Written([first with { Key = "System.Guid" }, .. truth.All.Skip(1)]),
            1 => Written([first with { Value = $"{first.Value}[]" }, .. truth.All.Skip(1)]),
            2 => Written([first with { Placement = "by a shard key of System.Int32" }, .. truth.All.Skip(1)]),
            3 => Written([first with { Resolvers = [.. Enumerable.Range(0, 1 + random.Next(256)).Select(static i => $"r{i:000}")] }, .. truth.All.Skip(1)]),
            4 => Written([first with { Value = new((char)('a' + random.Next(26)), 40_000) }]),
            5 => Written([first with { Value = "\r\n\0\u202E" + new string('\uFFFD', random.Next(1_000)) }]),
            6 => Written([]),
            // Out of order, or the same twice.
            7 => Raw([first with { Name = $"{first.Name}z" }, first, first]),
            _ => Written(Many(random)),
        };
    }

    private static List<MapShape> Many(Prng random) => [.. Enumerable.Range(0, 1 + random.Next(1_024)).Select(static i => new MapShape($"m{i:0000}", "k", "v", "", []))];

    private static byte[] Written(IReadOnlyList<MapShape> maps) => MapSet.Of(maps).Bytes.ToArray();

    private static byte[] Raw(IReadOnlyList<MapShape> maps)
    {
        var to = new BodyWriter(new byte[8 << 10]);
        to.Var((ulong)maps.Count);
        foreach (var map in maps)
        {
            foreach (string text in (string[])[map.Name, map.Key, map.Value, map.Placement]) to.Blob(System.Text.Encoding.UTF8.GetBytes(text));
            to.Var(0);
        }
        return to.Written.ToArray();
    }
}
