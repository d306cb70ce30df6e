using System.Globalization;
using GroupCore.Groups.Buffers;
using GroupCore.Membership;
using GroupCore.Wire;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>
/// Judges what members say of themselves while anything fails. A member that says it has all of its shard must have what it told its callers before. Somebody must have written
/// each value that a member holds, and been told the same version. Two members must know the same members in the same slots of one view.
/// </summary>
internal sealed class SeenSlices
{
    private readonly List<Slice> _slices = [];
    private readonly Dictionary<(GroupId Group, ulong View), (string Who, List<(int Slot, ProcessId Member)> Slots)> _views = [];

    /// <summary>Keeps a slice until the history is whole.</summary>
    /// <param name="who">The member.</param>
    /// <param name="asked">When it was asked, by the recorder of the history.</param>
    /// <param name="dht">Its DHT.</param>
    /// <param name="slice">What it answered.</param>
    public void Add(string who, long asked, Dht dht, LocalSlice slice)
    {
        ArgumentNullException.ThrowIfNull(slice);
        var (lists, values) = FinalStateReader.Read(dht, slice);
        Add(new(who, asked, slice.IsInitialised, lists, values, key => ShardOf(dht, key) == slice.Shard));
    }

    public void Add(Slice slice) => _slices.Add(slice);

    /// <summary>An element, as it is named in a <see cref="Slice"/>.</summary>
    public static string TextOf(HistoryValue value) => value.Kind == HistoryValueKind.Text ? value.Text : value.ToString();

    /// <summary>How the slots of a view that a member reports differ from those that another reported; null if they agree, or the member reports none.</summary>
    public string? Differs(string who, GroupId group, DhtStatus status)
    {
        ArgumentNullException.ThrowIfNull(status);
        if (status.Slots.Count == 0) return null;
        var slots = status.Slots.Select(static slot => (slot.Slot, slot.Member)).ToList();
        if (_views.TryAdd((group, status.View), (who, slots)) || _views[(group, status.View)].Slots.SequenceEqual(slots)) return null;
        var (other, known) = _views[(group, status.View)];
        return $"In view {status.View} {who} knows the slots {string.Join(", ", slots)}, and {other} {string.Join(", ", known)}.";
    }

    /// <summary>
    /// What is wrong with slices of members for which <paramref name="lasts"/> holds; null for nothing. Others are not judged: a member that was excluded and does not know it
    /// may hold what the rest does not have.
    /// </summary>
    public string? Wrong(History history, Func<string, bool> lasts)
    {
        ArgumentNullException.ThrowIfNull(history);
        var written = new Dictionary<(string Key, string Text), long?>();
        foreach (var operation in history.Operations)
            foreach (var write in operation.Writes)
                if (!write.Value.IsAbsent) written[(write.Key, TextOf(write.Value))] = operation.Outcome == OperationOutcome.Ok ? write.Version : null;
        foreach (var slice in _slices)
        {
            if (!lasts(slice.Who)) continue;
            foreach (var (key, (elements, version)) in slice.Lists)
            {
                if (elements.Find(element => !written.ContainsKey((key, element))) is { } unknown) return $"{slice} with {unknown} in {key}, which nobody has appended.";
                if (elements.Count > 0 && written[(key, elements[^1])] is { } told && told != version) return $"{slice} with {elements[^1]} in {key} at version {version}, and its caller was told {told}.";
            }
            foreach (var (key, (mark, version)) in slice.Values)
            {
                if (!written.TryGetValue((key, mark), out long? told)) return $"{slice} with {mark} at {key}, which nobody has put.";
                if (told is not null && told != version) return $"{slice} with {mark} at {key} at version {version}, and its caller was told {told}.";
            }
            if (slice.IsInitialised && Missing(history, slice) is { } missing) return $"{slice} as a whole, and without {missing}";
        }
        return null;
    }

    // An append that the member confirmed to its caller before it was asked, and does not hold. Keys of lists are never removed.
    private static string? Missing(History history, Slice slice)
    {
        foreach (var operation in history.Operations)
        {
            if (operation.Outcome != OperationOutcome.Ok || operation.Completed >= slice.Asked || !string.Equals(operation.Member, slice.Who, StringComparison.Ordinal)) continue;
            for (int i = 0; i < operation.Writes.Count; i++)
            {
                var write = operation.Writes[i];
                if (!operation.Appends(i) || write.Version is not { } version || !slice.Covers(write.Key)) continue;
                if (!slice.Lists.TryGetValue(write.Key, out var held) || held.Version < version) return $"{write} of {operation}.";
            }
        }
        return null;
    }

    private static int ShardOf(Dht dht, string key)
    {
        var bytes = new PayloadBuffer();
        CanonicalKey.Write(bytes, key);
        return dht.Layer.Places.ShardOf(dht.Layer.Places.Hash(bytes.Written));
    }

    /// <summary>What a member said that it holds.</summary>
    /// <param name="Who">The member.</param>
    /// <param name="Asked">When it was asked, by the recorder of the history.</param>
    /// <param name="IsInitialised">Whether it said that this is all of its shard.</param>
    /// <param name="Lists">Its lists by their keys, each with its version.</param>
    /// <param name="Values">The marks of its values by their keys.</param>
    /// <param name="Covers">Whether a key of a list is of its shard.</param>
    internal sealed record Slice(string Who, long Asked, bool IsInitialised, IReadOnlyDictionary<string, (List<string> Elements, long Version)> Lists, IReadOnlyDictionary<string, (string Mark, long Version)> Values, Func<string, bool> Covers)
    {
        public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Who} answered a snapshot, asked for at t {Asked},");
    }
}
