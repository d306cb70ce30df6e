using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>What an event of a history says.</summary>
public enum HistoryEventType
{
    /// <summary>An operation begins.</summary>
    [JsonStringEnumMemberName("invoke")]
    Invoke,

    /// <summary>It completed.</summary>
    [JsonStringEnumMemberName("ok")]
    Ok,

    /// <summary>It was certainly not applied.</summary>
    [JsonStringEnumMemberName("fail")]
    Fail,

    /// <summary>Unknown: it may apply, now or later, or never.</summary>
    [JsonStringEnumMemberName("info")]
    Info,

    /// <summary>A fault was injected.</summary>
    [JsonStringEnumMemberName("nemesis")]
    Nemesis,

    /// <summary>The whole state of an initialised replica at the end.</summary>
    [JsonStringEnumMemberName("final")]
    Final,
}
