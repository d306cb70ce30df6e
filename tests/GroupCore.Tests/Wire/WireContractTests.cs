using System.Buffers;
using System.Globalization;
using System.Numerics;
using System.Text;
using GroupCore.Groups;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Wire;

/// <summary>
/// What other versions and other languages rely on: docs/wire-contract.txt says it, and this test fails when code and file differ. A line that changes or goes makes a new
/// protocol version; lines that are added do not.
/// </summary>
public sealed class WireContractTests
{
    private static string Line<T>(string what, T value) => $"{what,-28} {Convert.ToHexStringLower(ContractSerializerTests.Bytes(value))}";

    [Fact]
    public void The_file_says_what_the_code_does() => RepositoryFiles.Matches("docs/wire-contract.txt", Contract(), "IDA_ACCEPT_WIRE");

    private static string Contract()
    {
        var text = new StringBuilder();
        text.Append($"""
            # The wire contract of Ida: frames and encodings that other versions and languages rely on.
            # Held by WireContractTests: a changed or removed line is a new version of the protocol.

            [header]
            version {FrameHeader.Version >> 4}, {FrameHeader.Size} bytes, little-endian: u32 length of what follows; u8 version << 4 | flags; u8 type; u16 group slot (0 = node); u32 low half of the view id
            {Header()}

            [frame types]

            """.ReplaceLineEndings("\n"));
        foreach (FrameType type in Enum.GetValues<FrameType>()) text.Append(CultureInfo.InvariantCulture, $"{(byte)type,3} {type}\n");
        text.Append("\n[frame types of the DHT]\n");
        foreach (var (type, name) in DhtFrameNames.All) text.Append(CultureInfo.InvariantCulture, $"{(byte)type,3} {name}\n");
        text.Append("\n[numbers in frames of the DHT]\n");
        foreach (string line in DhtNumbers.Lines) text.Append(line).Append('\n');
        text.Append("""

            [contributions of layers] CutPart: proposal u64, rank u16, part u8; head of the layer: length of its name u8, name in ASCII, first frame type u8, number of types u8; bytes

            """.ReplaceLineEndings("\n"));
        text.Append(CultureInfo.InvariantCulture, $"{GroupDhtExtensions.Layer}, head {Head(GroupDhtExtensions.Layer)}\n");
        text.Append(CultureInfo.InvariantCulture, $"\n[values] MessagePack, depth at most {MessagePackReader.MaxDepth}\n");
        text.AppendJoin('\n', Values()).Append("\n\n[keys] equal keys have equal bytes; the stable hash is xxHash64 of them\n").AppendJoin('\n', Keys());
        text.Append(CultureInfo.InvariantCulture, $"\nxxHash64(seed 1) of \"apples\"   {CanonicalKey.Hash(ContractSerializerTests.Bytes("apples"), 1):x16}\n");
        text.Append(CultureInfo.InvariantCulture, $"CRC-32C of \"123456789\"         {Crc32C.Compute("123456789"u8):x8}\n");
        return text.ToString();
    }

    private static string Head(LayerFrames layer)
    {
        var into = new ArrayBufferWriter<byte>();
        layer.WriteHead(into);
        return Convert.ToHexStringLower(into.WrittenSpan);
    }

    private static string Header()
    {
        var frame = new byte[FrameHeader.Size];
        FrameHeader.Write(frame, FrameType.Data, 0x0102, 0x03040506, 100);
        return "Data frame, slot 0x0102, view 0x03040506, body of 100 bytes: " + Convert.ToHexStringLower(frame);
    }

    private static IEnumerable<string> Values() =>
    [
        Line("null", (string?)null),
        Line("bool true", true),
        Line("int 127", 127),
        Line("int 128", 128),
        Line("int 65536", 65536),
        Line("int -33", -33),
        Line("long minimum", long.MinValue),
        Line("ulong maximum", ulong.MaxValue),
        Line("Int128 -2", (Int128)(-2)),
        Line("BigInteger -129", new BigInteger(-129)),
        Line("float 1.5", 1.5f),
        Line("double 0.1", 0.1),
        Line("Half 1.5", (Half)1.5),
        Line("decimal 1.50", 1.50m),
        Line("char 'a'", 'a'),
        Line("string \"ä€🍎\"", "ä€🍎"),
        Line("byte[] 1 2", new byte[] { 1, 2 }),
        Line("Guid", new Guid("01234567-89ab-cdef-0123-456789abcdef")),
        Line("DateTime 2026-11-21 UTC", new DateTime(2026, 11, 21, 0, 0, 0, DateTimeKind.Utc)),
        Line("DateTime 1970 + 1 tick", DateTime.UnixEpoch.AddTicks(1)),
        Line("DateTime minimum", DateTime.MinValue),
        Line("DateTimeOffset +02:00", new DateTimeOffset(2026, 11, 21, 0, 0, 0, TimeSpan.FromHours(2))),
        Line("TimeSpan 1 s", TimeSpan.FromSeconds(1)),
        Line("DateOnly 2026-11-21", new DateOnly(2026, 11, 21)),
        Line("TimeOnly 01:00", new TimeOnly(1, 0)),
        Line("Version 1.2", new Version(1, 2)),
        Line("enum of 200", Colour.Blue),
        Line("int? null", (int?)null),
        Line("(1, \"a\")", (1, "a")),
        Line("KeyValuePair", new KeyValuePair<string, int>("k", 1)),
        Line("List<int>", new List<int> { 1, 2 }),
        Line("Dictionary<string, int>", new Dictionary<string, int> { ["a"] = 1 }),
        Line("record Point(X, Y)", new Point(1, 2)),
        Line("[DataMember(Order)] 0 2 3", new Trade { Symbol = "IBM", Price = 1.5m, Lots = [1] }),
        Line("[DataMember(Name)]", new Named { Number = 2, Text = "t" }),
    ];

    private static IEnumerable<string> Keys() =>
    [
        Key("\"apples\"", "apples"),
        Key("-0.0", -0.0),
        Key("1.500m", 1.500m),
        Key("DateTimeOffset +02:00", new DateTimeOffset(2026, 11, 21, 2, 0, 0, TimeSpan.FromHours(2))),
        Key("(\"a\", 1)", ("a", 1)),
    ];

    private static string Key<T>(string what, T value)
    {
        Span<byte> room = stackalloc byte[64];
        Assert.True(CanonicalKey.TryWrite(room, value, out int written));
        return $"{what,-28} {Convert.ToHexStringLower(room[..written])}";
    }
}
