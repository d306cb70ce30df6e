using System.Text.Json.Serialization;

namespace QuickStart.Protocol;

/// <summary>Serialization of the lines, generated at compile time.</summary>
[JsonSerializable(typeof(MemberCommand))]
[JsonSerializable(typeof(MemberEvent))]
internal sealed partial class LineJson : JsonSerializerContext;
