using System.Diagnostics;

namespace Ida.Scenarios;

/// <summary>Judges whether the honest members that are left go on among themselves, and have delivered in one order.</summary>
internal sealed class MemberProgress(FrameVictims system)
{
    private const long First = 1_000_000;
    private long _attempt;

    /// <summary>Tries again until all that are left go on. Null, or why they do not.</summary>
    public async Task<string?> GoOnAsync(TimeSpan attempt, TimeSpan patience)
    {
        var watch = Stopwatch.StartNew();
        while (true)
        {
            // A member that is left alone has no majority behind it, and waits for ever.
            if (system.Standing.Count < 2) return null;
            var began = watch.Elapsed;
            if (await TryAsync(attempt) is not { } failure || system.Broken(mayBeExcluded: true) is not null) return null;
            if (watch.Elapsed > patience) return failure;
            // What fails at once, in a view that is over, is asked again at the pace of a view change.
            if (watch.Elapsed - began < attempt / 10) await Task.Delay(attempt / 10);
        }
    }

    /// <summary>Each member that is left must be answered by all, and what they send in total order must come at all, in one order. Null, or what is wrong.</summary>
    public async Task<string?> TryAsync(TimeSpan time)
    {
        var left = system.Standing;
        long number = First + _attempt++;
        string at = "";
        try
        {
            foreach (var member in left)
            {
                using var limit = new CancellationTokenSource(time);
                foreach (var other in left)
                {
                    at = $"{other.Node.Id} asked by {member.Node.Id}";
                    int rank = member.Group.CurrentView.RankOf(other.Node.Id);
                    if (rank < 0) return $"{at}: not in its view";
                    if (await member.Group.QueryToAsync<int, int>(rank, "echo", 7, timeout: time, cancellationToken: limit.Token).AsTask().WaitAsync(time) != 7) return $"{at}: a wrong answer";
                }
                at = $"an ordered message of {member.Node.Id}";
                await member.Group.OrderedSendAsync("mark", number, limit.Token).AsTask().WaitAsync(time);
                foreach (var other in left) await other.Marks.CameAsync(member.Node.Id, number).WaitAsync(time);
            }
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            return $"{at}: {error.GetType().Name}: {error.Message}. {system.Broken()}";
        }
        var ids = system.Members.Select(member => member.Node.Id).ToList();
        var first = left[0].Marks.Of(ids, left[^1].Node.Id, number);
        return left.FirstOrDefault(member => !member.Marks.Of(ids, left[^1].Node.Id, number).SequenceEqual(first)) is { } differs
            ? $"{differs.Node.Id} did not deliver of the honest what {left[0].Node.Id} did, in its order"
            : null;
    }

    /// <summary>Two honest members, excluded ones too, that delivered two messages of honest ones in opposite orders; null when there are none.</summary>
    public string? Disorder()
    {
        var ids = system.Members.Select(member => member.Node.Id).ToList();
        var orders = system.Members.Select(member => member.Marks.Of(ids)).ToList();
        for (int a = 0; a < orders.Count; a++)
        {
            for (int b = a + 1; b < orders.Count; b++)
            {
                var (of, other) = (orders[a].ToHashSet(), orders[b].ToHashSet());
                if (!orders[a].Where(other.Contains).SequenceEqual(orders[b].Where(of.Contains)))
                    return $"{ids[a]} and {ids[b]} delivered messages of the honest in different orders";
            }
        }
        return null;
    }
}
