using GroupCore.Membership;

namespace Ida.Scenarios;

/// <summary>Numbers that members sent in total order, as one member delivered them.</summary>
internal sealed class MarkLog
{
    private readonly Lock _lock = new();
    private readonly List<(ProcessId From, long Number)> _marks = [];
    private readonly List<(ProcessId From, long Number, TaskCompletionSource Came)> _awaited = [];

    public void Add(ProcessId from, long number)
    {
        lock (_lock)
        {
            _marks.Add((from, number));
            foreach (var awaited in _awaited)
                if (awaited.From == from && awaited.Number == number) awaited.Came.TrySetResult();
        }
    }

    /// <summary>Completes when that number of that member was delivered.</summary>
    public Task CameAsync(ProcessId from, long number)
    {
        lock (_lock)
        {
            if (_marks.Contains((from, number))) return Task.CompletedTask;
            var came = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _awaited.Add((from, number, came));
            return came.Task;
        }
    }

    /// <summary>What came from those members.</summary>
    public List<(ProcessId From, long Number)> Of(IReadOnlyCollection<ProcessId> members)
    {
        lock (_lock) return [.. _marks.Where(mark => members.Contains(mark.From))];
    }

    /// <summary>What came from those members, up to and including a number of one of them.</summary>
    public List<(ProcessId From, long Number)> Of(IReadOnlyCollection<ProcessId> members, ProcessId last, long number)
    {
        lock (_lock) return [.. _marks.Take(_marks.IndexOf((last, number)) + 1).Where(mark => members.Contains(mark.From))];
    }
}
