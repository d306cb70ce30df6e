using System.Text.Json;

namespace Ida.Testing.Checking;

/// <summary>
/// What clients saw of a run: operations with their times and results, injected faults and final states, in the JSON Lines format that any
/// checker can judge. Record one with <see cref="HistoryRecorder"/>; judge it with <see cref="StrictSerializabilityChecker"/>.
/// </summary>
public sealed class History
{
    private History(List<HistoryOperation> operations, List<HistoryEvent> faults, List<FinalState> finals, List<HistoryEvent> events) =>
        (Operations, Faults, Finals, Events) = (operations, faults, finals, events);

    /// <summary>Operations in the order of their invocations.</summary>
    public IReadOnlyList<HistoryOperation> Operations { get; }

    /// <summary>Faults that were injected, in order of time.</summary>
    public IReadOnlyList<HistoryEvent> Faults { get; }

    /// <summary>Final states of initialised replicas; empty when none were taken.</summary>
    public IReadOnlyList<FinalState> Finals { get; }

    /// <summary>All events as they were given.</summary>
    public IReadOnlyList<HistoryEvent> Events { get; }

    /// <summary>Joins events, given in any order, into operations.</summary>
    /// <exception cref="HistoryFormatException">An event breaks the format.</exception>
    public static History FromEvents(IEnumerable<HistoryEvent> events)
    {
        ArgumentNullException.ThrowIfNull(events);
        var all = events.ToList();
        var invokes = new List<HistoryEvent>();
        var completions = new Dictionary<string, HistoryEvent>(StringComparer.Ordinal);
        var faults = new List<HistoryEvent>();
        var finals = new List<FinalState>();
        foreach (var e in all)
        {
            switch (e.Type)
            {
                case HistoryEventType.Invoke: invokes.Add(e); break;
                case HistoryEventType.Nemesis: faults.Add(e); break;
                case HistoryEventType.Final:
                    finals.Add(new(e.Member ?? "", e.State ?? throw new HistoryFormatException($"The final event of member {e.Member} has no 'state'.")) { Versions = e.StateVersions, Shard = e.Shard });
                    break;
                default:
                    if (!completions.TryAdd(IdOf(e), e)) throw new HistoryFormatException($"Operation {e.Op} completes twice.");
                    break;
            }
        }
        var operations = new List<List<(HistoryEvent Invoke, HistoryEvent? Completion)>>(invokes.Count);
        var byId = new Dictionary<string, List<(HistoryEvent Invoke, HistoryEvent? Completion)>>(StringComparer.Ordinal);
        foreach (var invoke in invokes.OrderBy(e => e.PartOf is not null).ThenBy(e => e.T))
        {
            if (byId.ContainsKey(IdOf(invoke))) throw new HistoryFormatException($"Operation {invoke.Op} is invoked twice.");
            completions.Remove(invoke.Op!, out var completion);
            if (completion is not null && completion.T < invoke.T) throw new HistoryFormatException($"Operation {invoke.Op} completes before it is invoked.");
            var parts = new List<(HistoryEvent Invoke, HistoryEvent? Completion)>();
            if (invoke.PartOf is null) operations.Add(parts);
            else if (!byId.TryGetValue(invoke.PartOf, out parts!) || parts[0].Invoke.PartOf is not null)
                throw new HistoryFormatException($"Operation {invoke.Op} is a part of {invoke.PartOf}, which is no operation, or a part itself.");
            parts.Add((invoke, completion));
            byId.Add(invoke.Op!, invoke.PartOf is null ? parts : [(invoke, completion)]);
        }
        if (completions.Count > 0)
            throw new HistoryFormatException($"Operation {all.First(e => e.Op is { } op && completions.ContainsKey(op)).Op} completes but is never invoked.");
        return new(operations.ConvertAll(static parts => new HistoryOperation(parts)), [.. faults.OrderBy(e => e.T)], finals, all);
    }

    /// <summary>
    /// Reads JSON Lines. Empty lines are skipped; a last line without its line end that does not read, as a killed writer leaves it, is dropped.
    /// </summary>
    /// <exception cref="HistoryFormatException">A line does not read, or an event breaks the format.</exception>
    public static History Read(TextReader reader)
    {
        ArgumentNullException.ThrowIfNull(reader);
        return FromEvents(Parse(reader.ReadToEnd(), "history"));
    }

    /// <summary>Reads files of several writers with the same clock as one history.</summary>
    /// <exception cref="HistoryFormatException">A line does not read, or an event breaks the format.</exception>
    public static History ReadFiles(params IEnumerable<string> paths) =>
        FromEvents(paths.SelectMany(path => Parse(File.ReadAllText(path), path)));

    /// <summary>Writes JSON Lines.</summary>
    public void Write(TextWriter writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        foreach (var e in Events)
        {
            writer.Write(JsonSerializer.Serialize(e, HistoryJson.Default.HistoryEvent));
            writer.Write('\n');
        }
    }

    private static List<HistoryEvent> Parse(string text, string source)
    {
        var events = new List<HistoryEvent>();
        int number = 0;
        for (int at = 0; at < text.Length;)
        {
            int end = text.IndexOf('\n', at);
            bool torn = end < 0;
            if (torn) end = text.Length;
            var line = text.AsSpan(at, end - at).Trim();
            at = end + 1;
            number++;
            if (line.IsEmpty) continue;
            try
            {
                events.Add(JsonSerializer.Deserialize(line, HistoryJson.Default.HistoryEvent) ?? throw new JsonException("The line is null."));
            }
            catch (Exception e) when (e is JsonException or InvalidOperationException or FormatException)
            {
                if (torn) break;
                throw new HistoryFormatException($"{source}, line {number}: {e.Message}", e);
            }
        }
        return events;
    }

    private static string IdOf(HistoryEvent e) => e.Op ?? throw new HistoryFormatException($"An event of type {e.Type} at t={e.T} has no 'op'.");
}
