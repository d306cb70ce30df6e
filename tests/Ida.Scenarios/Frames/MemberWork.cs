namespace Ida.Scenarios;

/// <summary>What members do while one of them lies. Calls with a bound of their own must end by it; a message that was sent may wait as long as its group does.</summary>
internal sealed class MemberWork(FrameVictims system)
{
    private readonly List<(string Name, Task Call)> _sent = [];
    private Task _anew = Task.CompletedTask;
    private Dht? _part;

    /// <summary>Null, or a call of an honest member that did not end though it was cancelled.</summary>
    public async Task<string?> RoundAsync(int round, int each, TimeSpan time, TimeSpan patience)
    {
        var bounded = new List<(string Name, Task Call)>();
        var sent = new List<(string Name, Task Call)>();
        var honest = new List<(string Name, Task Call)>();
        using var limit = new CancellationTokenSource(time);
        if (_anew.IsCompleted) _anew = TakePartAnewAsync(round, limit.Token);
        for (int i = 0; i < each; i++)
        {
            int number = (round * each) + i;
            foreach (var member in system.Members.Append(system.Hostile!))
            {
                bounded.Clear();
                sent.Clear();
                Start(member, number, time, bounded, sent, limit.Token);
                if (member == system.Hostile) continue;
                honest.AddRange(bounded);
                _sent.AddRange(sent);
            }
        }
        string? late = await LateAsync(honest, patience);
        await limit.CancelAsync();
        _sent.RemoveAll(one => one.Call.IsCompleted);
        return late;
    }

    /// <summary>Null, or a call that does not end though its group goes on or is over.</summary>
    public Task<string?> EndAsync(TimeSpan patience) => LateAsync(_sent, patience);

    /// <summary>
    /// The liar gives up its part in the DHT and takes another. Either causes a view change, in which it says what it declares: the same as the others, or more, or what
    /// contradicts them.
    /// </summary>
    private async Task TakePartAnewAsync(int round, CancellationToken cancel)
    {
        await Task.Yield();
        try
        {
            await (_part ?? system.Hostile!.Dht).CloseAsync(cancel);
            _part = await system.Hostile!.Group.EnableDhtAsync(FrameVictims.DhtOptions, round % 3 == 2 ? static maps => maps.Map<int, int>("lab") : maps =>
            {
                FrameVictims.Declare(maps);
                if (round % 3 == 1) maps.Map<string, int>($"more {round}");
            }, cancel);
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            // A liar may be refused.
        }
    }

    private static async Task<string?> LateAsync(List<(string Name, Task Call)> calls, TimeSpan patience)
    {
        await Task.WhenAny(Task.WhenAll(calls.Select(one => one.Call)), Task.Delay(patience));
        var late = calls.Where(one => !one.Call.IsCompleted).Select(one => one.Name).ToList();
        return late.Count == 0 ? null : $"{late.Count} calls did not end in {patience.TotalSeconds:F0} s, {late[0]} among them";
    }

    private static void Start(FrameVictim member, int number, TimeSpan time, List<(string, Task)> bounded, List<(string, Task)> sent, CancellationToken cancel)
    {
        var (group, map) = (member.Group, member.Dht.Map<string, int>("lab"));
        Add(sent, "send", () => group.SendAsync("note", new byte[1 + (number * 37 % 3_000)], cancel));
        Add(sent, "ordered send", () => group.OrderedSendAsync("mark", (long)number, cancel));
        Add(sent, "send to one", () => group.SendToAsync(number % 4, "note", new byte[number % 500], cancel));
        Add(bounded, "query", async () => await group.QueryAsync<int, int>("echo", number, timeout: time, cancellationToken: cancel));
        Add(bounded, "put", async () => await map.PutAsync($"{number % 16}", number, cancellationToken: cancel));
        Add(bounded, "get", async () => await map.GetAsync($"{number % 16}", cancellationToken: cancel));

        void Add(List<(string, Task)> to, string name, Func<ValueTask> call) => to.Add(($"{name} {number} of {member.Node.Id}", EndOf(call)));
    }

    private static async Task EndOf(Func<ValueTask> call)
    {
        // The caller's thread does not wait, and starts all calls at once.
        await Task.Yield();
        try
        {
            await call();
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            // A call beside a liar may fail; only that it ends is judged.
        }
    }
}
