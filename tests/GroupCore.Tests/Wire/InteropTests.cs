using System.Diagnostics;
using System.Numerics;
using System.Security.Cryptography;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using GroupCore.Wire.MessagePack;
using Ida.Tests.Shared;
using static GroupCore.Tests.Wire.Tagged;

namespace GroupCore.Tests.Wire;

/// <summary>
/// Two independent implementations read what is written here and write what is read here. The scripts in <c>Vectors</c> say how their
/// files were made; where Python or node has its library they run again, and must print what is committed.
/// </summary>
public sealed class InteropTests
{
    private const string Folder = "tests/GroupCore.Tests/Wire/Vectors/";

    private sealed record Sample(string Name, byte[] Bytes, JsonNode? Meaning, Func<byte[], byte[]> ReadAndWrite);

    private static readonly List<Sample> s_samples =
    [
        Of("true", true, true),
        Of("byte", (byte)200, Int(200)),
        Of("int", -100_000, Int(-100_000)),
        Of("long", long.MinValue, Int(long.MinValue)),
        Of("ulong", ulong.MaxValue, Int(ulong.MaxValue)),
        Of("char", 'a', Int('a')),
        Of("float", 1.5f, Float(1.5)),
        Of("float whole", 3f, Float(3)),
        Of("double", 0.1, Float(0.1)),
        Of("double whole", 3.0, Float(3)),
        Of("half", (Half)0.25, Float(0.25)),
        Of("decimal", 12.50m, Str("12.50")),
        Of("big integer", new BigInteger(-129), Bin(0x7F, 0xFF)),
        Of("int128", (Int128)1, Bin([1, .. new byte[15]])),
        Of("string", "ä€🍎", Str("ä€🍎")),
        Of<string?>("null", null, null),
        Of("bytes", new byte[] { 1, 255 }, Bin(1, 255)),
        Of("guid", new Guid("01234567-89ab-cdef-0123-456789abcdef"), Str("01234567-89ab-cdef-0123-456789abcdef")),
        Of("time", new DateTime(2026, 11, 21, 12, 0, 0, DateTimeKind.Utc), Time(1795262400, 0)),
        Of("time with ticks", new DateTime(621355968000000001, DateTimeKind.Utc), Time(0, 100)),
        Of("time before 1970", new DateTime(1969, 12, 31, 23, 59, 59, 500, DateTimeKind.Utc), Time(-1, 500_000_000)),
        Of("time with offset", new DateTimeOffset(1970, 1, 1, 2, 0, 0, TimeSpan.FromHours(2)), Array(Time(7200, 0), Int(120))),
        Of("span", TimeSpan.FromTicks(-7), Int(-7)),
        Of("date", new DateOnly(2026, 11, 21), Int(739_940)),
        Of("time of day", new TimeOnly(1, 0), Int(36_000_000_000)),
        Of("version", new Version(1, 2), Str("1.2")),
        Of("enumeration", Colour.Blue, Int(200)),
        Of<int?>("nothing", null, null),
        Of("tuple", (1, "a", true), Array(Int(1), Str("a"), true)),
        Of("pair", new KeyValuePair<string, int>("k", 1), Array(Str("k"), Int(1))),
        Of("list", new List<string?> { "a", null }, Array(Str("a"), null)),
        Of("array of arrays", new int[][] { [1], [] }, Array(Array(Int(1)), Array())),
        Of("set", new HashSet<int> { 4 }, Array(Int(4))),
        Of("dictionary", new Dictionary<string, int> { ["a"] = 1, ["b"] = -1 }, Object(("a", Int(1)), ("b", Int(-1)))),
        Of("record", new Point(1, 2), Object(("X", Int(1)), ("Y", Int(2)))),
        Of("empty record", new Ping(), Object()),
        Of("array contract", new Trade { Symbol = "IBM", Price = 1.5m, Lots = [1] }, Array(Str("IBM"), null, Str("1.5"), Array(Int(1)))),
        Of("map contract", new Named { Number = 2 }, Object(("n", Int(2)), ("Text", null), ("Doubled", Int(4)))),
        Of("tree", new Tree { Value = 1, Children = [new() { Value = 2 }] },
            Object(("Value", Int(1)), ("Children", Array(Object(("Value", Int(2)), ("Children", Array())))))),
        Of("complex", new Complex(0.5, -0.5), Array(Float(0.5), Float(-0.5))),
    ];

    private static Sample Of<T>(string name, T value, JsonNode? meaning) => new(name, ContractSerializerTests.Bytes(value), meaning,
        bytes => ContractSerializerTests.Bytes(ContractSerializerTests.Back<T>(bytes)));

    private static readonly JsonSerializerOptions s_json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    [Fact]
    public void What_the_others_checked_is_what_is_written_now()
    {
        IEnumerable<string> lines = s_samples.Select(s => new JsonObject
        {
            ["name"] = s.Name, ["hex"] = Convert.ToHexStringLower(s.Bytes), ["value"] = s.Meaning?.DeepClone(),
        }.ToJsonString(s_json));
        RepositoryFiles.Matches(Folder + "ida.json", "[\n" + string.Join(",\n", lines) + "\n]\n", "IDA_ACCEPT_WIRE");
    }

    [Fact]
    public void The_reader_understands_its_own_samples_as_meant()
    {
        foreach (Sample sample in s_samples)
        {
            var reader = new MessagePackReader(sample.Bytes);
            Assert.True(JsonNode.DeepEquals(sample.Meaning, Read(ref reader)), sample.Name);
            Assert.True(reader.AtEnd);
        }
    }

    [Theory]
    [InlineData("python.json"), InlineData("javascript.json")]
    public void Others_understood_all_and_their_bytes_are_understood(string file)
    {
        JsonNode theirs = JsonNode.Parse(File.ReadAllText(RepositoryFiles.PathOf(Folder + file)))!;
        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(RepositoryFiles.PathOf(Folder + "ida.json")))), theirs["checked"]!.GetValue<string>());
        foreach (Sample sample in s_samples)
        {
            byte[] theirBytes = Convert.FromHexString(theirs["reencoded"]![sample.Name]!.GetValue<string>());
            Assert.Equal(Convert.ToHexStringLower(sample.Bytes), Convert.ToHexStringLower(sample.ReadAndWrite(theirBytes)));
        }

        JsonArray values = theirs["values"]!.AsArray();
        Assert.True(values.Count > 50);
        foreach (JsonNode? entry in values)
        {
            byte[] bytes = Convert.FromHexString(entry!["hex"]!.GetValue<string>());
            var reader = new MessagePackReader(bytes);
            Assert.True(JsonNode.DeepEquals(entry["value"], Read(ref reader)), entry.ToJsonString());
            Assert.True(reader.AtEnd);
            if (entry["shortest"]?.GetValue<bool>() == false) continue;
            JsonNode? value = entry["value"];
            Assert.Equal(bytes, MessagePackWriterTests.Write((ref w) => Write(ref w, value)));
        }
    }

    [Fact]
    public void Large_values_of_Python_are_written_alike()
    {
        JsonNode theirs = JsonNode.Parse(File.ReadAllText(RepositoryFiles.PathOf(Folder + "python.json")))!;
        foreach (JsonNode? large in theirs["large"]!.AsArray())
        {
            int count = large!["count"]!.GetValue<int>();
            byte[] bytes = large["of"]!.GetValue<string>() switch
            {
                "str" => ContractSerializerTests.Bytes(new string('x', count)),
                "bin" => ContractSerializerTests.Bytes(Enumerable.Repeat((byte)'b', count).ToArray()),
                _ => ContractSerializerTests.Bytes(new int?[count]),
            };
            Assert.Equal(large["sha256"]!.GetValue<string>(), Convert.ToHexStringLower(SHA256.HashData(bytes)));
        }
    }

    [Theory]
    [InlineData("/usr/bin/python3", "-c", "import msgpack", "interop.py", "python.json")]
    [InlineData("node", "-e", "require('@msgpack/msgpack')", "interop.cjs", "javascript.json")]
    public void The_other_library_prints_the_committed_file_again_where_it_is_installed(string program, string flag, string probe, string script, string file)
    {
        if (Run(program, [flag, probe]) is not (0, _, _)) return; // the committed file is checked above
        (int exit, string output, string error) = Run(program, [RepositoryFiles.PathOf(Folder + script)]);
        Assert.True(exit == 0, error);
        JsonNode now = JsonNode.Parse(output)!, committed = JsonNode.Parse(File.ReadAllText(RepositoryFiles.PathOf(Folder + file)))!;
        now["library"] = committed["library"]!.GetValue<string>();
        Assert.True(JsonNode.DeepEquals(now, committed), $"{file} is not what {script} prints here; if the samples changed, run the script as its header says and commit the file.");
    }

    private static (int Exit, string Output, string Error) Run(string program, string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = RepositoryFiles.PathOf(Folder) };
        try
        {
            using Process process = Process.Start(start)!;
            Task<string> error = process.StandardError.ReadToEndAsync();
            string output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return (process.ExitCode, output, error.GetAwaiter().GetResult());
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return (-1, "", "not installed");
        }
    }
}
