using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>Generated JSON of the history format, so that it works without reflection.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(HistoryEvent))]
internal sealed partial class HistoryJson : JsonSerializerContext;
