using Ida.NetworkMember;
using Ida.Testing.Checking;

namespace Ida.Network.Tests.Hosts;

/// <summary>What the processes of a trial recorded, all on one clock.</summary>
/// <param name="History">What the clients did and saw.</param>
/// <param name="Acts">When the processes acted for their group.</param>
/// <param name="Machines">The machine of each process, by its name in the history.</param>
/// <param name="MachineAt">The machine at an address.</param>
internal sealed record HostRecords(History History, IReadOnlyList<Act> Acts, IReadOnlyDictionary<string, int> Machines, Func<string, int> MachineAt)
{
    /// <summary>The shortest time from the last act of an excluded process to the first without it; null if there was nothing to compare.</summary>
    public TimeSpan? Margin { get; init; }

    private IEnumerable<HistoryOperation> Answered => History.Operations.Where(static one => one.Outcome == OperationOutcome.Ok);

    /// <summary>How long after a moment each of these processes had had its first write acknowledged that began after it: the longest.</summary>
    public TimeSpan FirstWriteAfter(long moment, IEnumerable<int> machines) => HostTrial.Between(moment, machines.Max(machine => First(machine, moment)));

    /// <summary>The longest time between two answers to the clients of one process, within a time.</summary>
    public TimeSpan LongestGap(int machine, long from, long to)
    {
        var (last, longest) = (from, 0L);
        foreach (long answer in Answered.Where(one => Machines[one.Member] == machine).Select(static one => one.Completed).Where(one => one >= from && one <= to).Order())
        {
            longest = Math.Max(longest, answer - last);
            last = answer;
        }
        return HostTrial.Between(0, Math.Max(longest, to - last));
    }

    /// <summary>What these processes did within a time, each act begun after its beginning and ended before its end.</summary>
    public int ActsOf(IEnumerable<int> machines, long from, long to) => Acts.Count(act => act.From > from && act.To < to && machines.Contains(MachineAt(act.Address)));

    /// <summary>Operations of these processes' clients that were answered, begun and ended within a time.</summary>
    public int AnswersTo(IEnumerable<int> machines, long from, long to) => Answered.Count(one => one.Invoked > from && one.Completed < to && machines.Contains(Machines[one.Member]));

    private long First(int machine, long moment) => Answered.Where(one => one.Writes.Count > 0 && one.Invoked > moment && Machines[one.Member] == machine).Select(static one => one.Completed).DefaultIfEmpty(long.MaxValue).Min();
}
