using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>Names of operations, clients and members: other writers use numbers or texts; here both are texts, written back as they came.</summary>
internal sealed class NameConverter : JsonConverter<string>
{
    public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.TokenType == JsonTokenType.Number ? reader.GetInt64().ToString(CultureInfo.InvariantCulture) : reader.GetString();

    public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options)
    {
        bool isNumber = long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number)
            && string.Equals(number.ToString(CultureInfo.InvariantCulture), value, StringComparison.Ordinal);
        if (isNumber) writer.WriteNumberValue(number);
        else writer.WriteStringValue(value);
    }
}
