using System.Text.Json;
using System.Text.Json.Serialization;
using Ida.Testing.Calls;
using Ida.Testing.Workload;

namespace Ida.Chaos.Members;

/// <summary>What a member says of itself, several times a second, and in answer to a command.</summary>
internal sealed record MemberStatus
{
    /// <summary>The <c>Answer</c> of a line that is sent at once and says only what calls did.</summary>
    public const string Note = "note";

    /// <summary>Which command this answers; empty when nobody asked.</summary>
    public string Answer { get; init; } = "";

    public bool Active { get; init; }

    public ulong View { get; init; }

    public int Members { get; init; }

    /// <summary>−1 without one.</summary>
    public int Slot { get; init; } = -1;

    public bool Initialised { get; init; }

    public int Shards { get; init; }

    /// <summary>The name of the system in which it is registered, where that is of interest.</summary>
    public string System { get; init; } = "";

    /// <summary>The state of its node, where more than <see cref="Active"/> is of interest.</summary>
    public string State { get; init; } = "";

    /// <summary>The names of the log events so far, where they are of interest.</summary>
    public IReadOnlyList<string> Events { get; init; } = [];

    /// <summary>Live managed bytes after a full collection; only in the answer to <see cref="MemberCommands.Final"/>.</summary>
    public long Heap { get; init; }

    public long Succeeded { get; init; }

    /// <summary>Ordered messages of its own that came back to it, where that is of interest.</summary>
    public long Said { get; init; }

    /// <summary>Everything so far that its calls did and must not do, and errors that no code looked at; in each line, since it may be the last.</summary>
    public string? Wrong { get; init; }

    /// <summary>Everything that its calls have met so far; in one line a second, when a fault begins, and at the end.</summary>
    public IReadOnlyList<MetCalls> Calls { get; init; } = [];

    /// <summary>Addresses of the Oracle's voters, as far as the member knows.</summary>
    public IReadOnlyList<string> Voters { get; init; } = [];

    /// <summary>How long it has been held up so far, by stops or by the machine.</summary>
    public long HeldUpMs { get; init; }

    /// <summary>How long its DHT has not answered it, while the process was awake; what the line says of view and slot is older than that.</summary>
    public long UnansweredMs { get; init; }

    /// <summary>Whether its DHT has answered it within a second.</summary>
    [JsonIgnore]
    public bool IsAnswered => UnansweredMs < 1_000;

    [JsonIgnore]
    public int Shard => Slot < 0 ? -1 : Slot % Math.Max(1, Shards);

    public string ToLine() => JsonSerializer.Serialize(this, MemberJson.Default.MemberStatus);

    public static MemberStatus? FromLine(string line)
    {
        try
        {
            return JsonSerializer.Deserialize(line, MemberJson.Default.MemberStatus);
        }
        catch (JsonException)
        {
            return null;
        }
    }
}

/// <summary>How often calls of a kind met something.</summary>
internal sealed record MetCalls(CallKind Kind, string What, long Times);

[JsonSerializable(typeof(MemberStatus))]
[JsonSerializable(typeof(HistoryWrite))]
internal sealed partial class MemberJson : JsonSerializerContext;
