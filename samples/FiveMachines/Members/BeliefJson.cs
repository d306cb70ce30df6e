using System.Text.Json.Serialization;

namespace FiveMachines.Members;

[JsonSerializable(typeof(Belief))]
internal sealed partial class BeliefJson : JsonSerializerContext;
