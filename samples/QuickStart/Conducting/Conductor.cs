using System.Diagnostics;
using System.Threading.Channels;
using QuickStart.Data;
using QuickStart.Protocol;
using QuickStart.Reporting;

namespace QuickStart.Conducting;

/// <summary>
/// Runs the whole demonstration: starts the members, lets them load and read, kills one in the middle, and checks the survivors. It knows only what the members' lines say,
/// and takes these lines one at a time. Each wait has a bound.
/// </summary>
internal sealed partial class Conductor(RunOptions options, ZoneTable table, IReport report, CancellationToken cancel) : IDisposable
{
    // Slow enough to watch, and for the kill to come in the middle of loading; a put takes a small part of a millisecond to a few milliseconds.
    private const int RowsPerSecond = 70;
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LoadLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan ViewLimit = TimeSpan.FromSeconds(60);

    private readonly Channel<(MemberProcess Member, MemberEvent? Event)> _events = Channel.CreateUnbounded<(MemberProcess, MemberEvent?)>();
    private readonly List<MemberProcess> _members = [];
    private readonly Random _random = new((int)(options.Seed ^ (options.Seed >> 32)));
    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly Ledger _ledger = new(table);
    private readonly RunResult _result = new();

    public async Task<RunResult> RunAsync()
    {
        try
        {
            await FormGroupAsync();
            await EnableDhtAsync();
            BeginLoading();
            await KillOneAsync();
            await FinishLoadingAsync();
            await VerifyAsync();
            await StopAsync();
        }
        catch (RunFailedException e)
        {
            _result.Checks.Add(new("the run went to its end", false, e.Message));
        }
        return _result;
    }

    /// <summary>Kills the member processes that still run.</summary>
    public void Dispose()
    {
        foreach (var member in _members) member.Kill();
        foreach (var member in _members) member.Dispose();
    }

    private IEnumerable<MemberProcess> Living => _members.Where(m => !m.MayEnd);

    private TimeSpan Now => Stopwatch.GetElapsedTime(_began);

    private void Step(string text) => report.Step(Now, text);

    /// <summary>Takes events until the condition holds.</summary>
    private async Task UntilAsync(Func<bool> condition, TimeSpan limit, string what)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        bound.CancelAfter(limit);
        while (!condition())
        {
            try
            {
                var (member, happened) = await _events.Reader.ReadAsync(bound.Token);
                Take(member, happened);
            }
            catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
            {
                throw new RunFailedException($"not within {limit.TotalSeconds:0} s: {what}");
            }
        }
    }

    private void Take(MemberProcess member, MemberEvent? happened)
    {
        switch (happened)
        {
            case null when !member.MayEnd: throw new RunFailedException(member.Epitaph());
            case null: member.Ended = true; break;
            case ErrorEvent error when !member.MayEnd: throw new RunFailedException($"{member.Name}: {error.Text}");
            case StartedEvent started: member.Address = started.Address; break;
            case ViewEvent view: member.View = view; break;
            case EnabledEvent: member.Enabled = true; break;
            case SlotEvent slot: member.Slot = slot; break;
            case StoredEvent stored: TakeStored(member, stored); break;
            case ReadsEvent reads: (member.Reads, member.KeysRead) = (reads.Count, reads.Keys); break;
            case QuietEvent quiet: (member.Reads, member.KeysRead, member.Quiet) = (quiet.Count, quiet.Keys, true); break;
            case GapEvent gap: _ledger.Gaps.Add((member.Name, gap)); break;
            case FaultEvent fault: _ledger.Faults.Add($"{member.Name}: {fault.Text}"); break;
            case VerifiedEvent verified: member.Verified = verified; break;
        }
        report.Progress(_ledger.StoredRows, table.Rows.Count, _members.Sum(m => m.Reads));
    }

    /// <summary>From now on every read at every member has to see the row, so the other members are told at once.</summary>
    private void TakeStored(MemberProcess member, StoredEvent stored)
    {
        _ledger.Stored(member.Name, stored);
        foreach (var other in Living)
            if (other != member) other.Send(new KnownCommand([stored.Row]));
    }
}
