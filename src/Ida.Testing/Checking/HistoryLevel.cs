using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>What an operation was promised. Source: dht-order.md#strict-and-ordered.</summary>
public enum HistoryLevel
{
    /// <summary>Strict serializability; the default.</summary>
    [JsonStringEnumMemberName("strict")]
    Strict,

    /// <summary>Serializable, without real-time order.</summary>
    [JsonStringEnumMemberName("ordered")]
    Ordered,

    /// <summary>No order; checkers leave the operation out, but know what it wrote.</summary>
    [JsonStringEnumMemberName("weak")]
    Weak,
}
