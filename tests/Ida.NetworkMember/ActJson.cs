using System.Text.Json.Serialization;

namespace Ida.NetworkMember;

[JsonSerializable(typeof(Act))]
internal sealed partial class ActJson : JsonSerializerContext;
