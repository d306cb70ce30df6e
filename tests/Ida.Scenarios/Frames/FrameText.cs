using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Frames as text that is valid in any system: hexadecimal, with names in braces where the bytes are the id of a node, its address or the
/// name of the system. The version of the wire has a name, too, so that a frame can still be read when the version rises.
/// </summary>
internal static class FrameText
{
    private const string VersionName = "{version}";

    // The first digit behind the length.
    private const int VersionAt = 8;

    private static readonly string s_version = (FrameHeader.Version >> 4).ToString("X", CultureInfo.InvariantCulture);

    public static string Write(byte[] frame, FrameContext context)
    {
        string text = Convert.ToHexString(frame);
        if (text.Length > VersionAt && text[VersionAt..].StartsWith(s_version, StringComparison.Ordinal)) text = text[..VersionAt] + VersionName + text[(VersionAt + 1)..];
        foreach (var (name, hex) in Names(context)) text = text.Replace(hex, name, StringComparison.Ordinal);
        return text;
    }

    public static byte[] Read(string text, FrameContext context)
    {
        foreach (var (name, hex) in Names(context).Append((VersionName, s_version))) text = text.Replace(name, hex, StringComparison.Ordinal);
        return Convert.FromHexString(text);
    }

    private static IEnumerable<(string Name, string Hex)> Names(FrameContext context)
    {
        foreach (var (name, number) in new[] { ("{high}", context.System.High), ("{low}", context.System.Low) }) yield return (name, Big(number));
        for (int i = 0; i < context.Nodes.Count; i++)
        {
            yield return ($"{{node{i}}}", Big(context.Nodes[i].Node));
            yield return ($"{{little{i}}}", Little(context.Nodes[i].Node));
            // The attacker's address is no real place, and is the same everywhere.
            if (i <= FrameContext.Former) yield return ($"{{address{i}}}", Convert.ToHexString(Encoding.UTF8.GetBytes(context.Nodes[i].Address.Text)));
        }
    }

    private static string Big(ulong number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, number);
        return Convert.ToHexString(bytes);
    }

    private static string Little(ulong number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, number);
        return Convert.ToHexString(bytes);
    }
}
