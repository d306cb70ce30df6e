using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>Reads and writes <see cref="HistoryValue"/> as plain JSON.</summary>
internal sealed class HistoryValueConverter : JsonConverter<HistoryValue>
{
    public override bool HandleNull => true;

    public override HistoryValue Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.Null: return default;
            case JsonTokenType.String: return reader.GetString();
            case JsonTokenType.Number when reader.TryGetInt64(out long number): return number;
            case JsonTokenType.StartArray:
                var elements = new List<HistoryValue>();
                while (reader.Read() && reader.TokenType != JsonTokenType.EndArray) elements.Add(Read(ref reader, typeToConvert, options));
                return HistoryValue.List([.. elements]);
            default:
                using (var document = JsonDocument.ParseValue(ref reader)) return HistoryValue.OtherJson(document.RootElement.GetRawText());
        }
    }

    public override void Write(Utf8JsonWriter writer, HistoryValue value, JsonSerializerOptions options)
    {
        switch (value.Kind)
        {
            case HistoryValueKind.Absent: writer.WriteNullValue(); break;
            case HistoryValueKind.Number: writer.WriteNumberValue(value.Number); break;
            case HistoryValueKind.Text: writer.WriteStringValue(value.Text); break;
            case HistoryValueKind.List:
                writer.WriteStartArray();
                foreach (var element in value.Elements) Write(writer, element, options);
                writer.WriteEndArray();
                break;
            default: writer.WriteRawValue(value.Text); break;
        }
    }
}
