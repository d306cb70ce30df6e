using System.Globalization;
using System.Text.Json.Nodes;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>
/// MessagePack values as JSON that loses nothing: null, true, {"int": "5"}, {"float": "bits"}, {"str": "x"}, {"bin": "hex"}, {"array": []},
/// {"map": [[key, value]]}, {"time": ["seconds", nanoseconds]}.
/// </summary>
internal static class Tagged
{
    public static JsonNode? Int(Int128 value) => new JsonObject { ["int"] = value.ToString(CultureInfo.InvariantCulture) };

    public static JsonNode? Float(double value) => new JsonObject { ["float"] = BitConverter.DoubleToUInt64Bits(value).ToString("x16", CultureInfo.InvariantCulture) };

    public static JsonNode? Str(string value) => new JsonObject { ["str"] = value };

    public static JsonNode? Bin(params byte[] value) => new JsonObject { ["bin"] = Convert.ToHexStringLower(value) };

    public static JsonNode? Time(long seconds, int nanoseconds) => new JsonObject { ["time"] = new JsonArray(seconds.ToString(CultureInfo.InvariantCulture), nanoseconds) };

    public static JsonNode? Array(params JsonNode?[] items) => new JsonObject { ["array"] = new JsonArray(items) };

    public static JsonNode? Map(params (JsonNode? Key, JsonNode? Value)[] entries) =>
        new JsonObject { ["map"] = new JsonArray([.. entries.Select(e => new JsonArray(e.Key, e.Value))]) };

    public static JsonNode? Object(params (string Name, JsonNode? Value)[] members) => Map([.. members.Select(m => (Str(m.Name), m.Value))]);

    /// <summary>Reads one value of any type.</summary>
    public static JsonNode? Read(ref MessagePackReader reader)
    {
        switch (reader.NextType)
        {
            case MessagePackType.Nil:
                Assert.True(reader.TryReadNil());
                return null;
            case MessagePackType.Boolean:
                return reader.ReadBoolean();
            case MessagePackType.Integer:
                return reader.TryReadInt64(out long value) ? Int(value) : Int(reader.ReadUInt64());
            case MessagePackType.Float:
                return Float(reader.ReadDouble());
            case MessagePackType.String:
                return Str(reader.ReadString());
            case MessagePackType.Binary:
                return Bin(reader.ReadBinary().ToArray());
            case MessagePackType.Extension:
                (long seconds, int nanoseconds) = reader.ReadTimestamp();
                return Time(seconds, nanoseconds);
            case MessagePackType.Array:
                var items = new JsonNode?[reader.ReadArrayHeader()];
                for (int i = 0; i < items.Length; i++) items[i] = Read(ref reader);
                return Array(items);
            case MessagePackType.Map:
                var entries = new (JsonNode?, JsonNode?)[reader.ReadMapHeader()];
                for (int i = 0; i < entries.Length; i++) entries[i] = (Read(ref reader), Read(ref reader));
                return Map(entries);
            default:
                throw reader.Unexpected("a value");
        }
    }

    /// <summary>Writes one value of any type.</summary>
    public static void Write(ref MessagePackWriter writer, JsonNode? value)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }
        if (value is JsonValue flag)
        {
            writer.WriteBoolean(flag.GetValue<bool>());
            return;
        }
        (string tag, JsonNode? content) = value.AsObject().Single();
        switch (tag)
        {
            case "int" when content!.GetValue<string>()[0] == '-':
                writer.WriteInt(long.Parse(content.GetValue<string>(), CultureInfo.InvariantCulture));
                break;
            case "int":
                writer.WriteUInt(ulong.Parse(content!.GetValue<string>(), CultureInfo.InvariantCulture));
                break;
            case "float":
                writer.WriteDouble(BitConverter.UInt64BitsToDouble(ulong.Parse(content!.GetValue<string>(), NumberStyles.HexNumber, CultureInfo.InvariantCulture)));
                break;
            case "str":
                writer.WriteString(content!.GetValue<string>());
                break;
            case "bin":
                writer.WriteBinary(Convert.FromHexString(content!.GetValue<string>()));
                break;
            case "time":
                writer.WriteTimestamp(long.Parse(content![0]!.GetValue<string>(), CultureInfo.InvariantCulture), content[1]!.GetValue<int>());
                break;
            case "array":
                writer.WriteArrayHeader(content!.AsArray().Count);
                foreach (JsonNode? item in content.AsArray()) Write(ref writer, item);
                break;
            case "map":
                writer.WriteMapHeader(content!.AsArray().Count);
                foreach (JsonNode? entry in content.AsArray())
                {
                    Write(ref writer, entry![0]);
                    Write(ref writer, entry[1]);
                }
                break;
            default:
                throw new InvalidOperationException($"Unknown tag {tag}.");
        }
    }
}
