using System.Buffers;
using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// A member of a group under the real Oracle. Every event of it goes to the virtual-synchrony checker; its state is a chain over ordered messages and a sum over others.
/// </summary>
internal sealed class WatchedMember(VirtualSynchronyChecker checker, CallLedger calls, SimMember member)
{
    private ulong _sum, _chain = 1, _loadedView;
    private Group? _group;
    private readonly MemberEnd _end = new(member.Host.Simulation);

    public SimMember Member => member;

    /// <summary>Whether the group goes on at this member.</summary>
    public bool Usable => _group is { Completion.IsCompleted: false } && !_end.HasEnded && member.Host.Alive;

    public Group Group => _group!;

    private ProcessId Id => member.Node.Id;

    private ulong Digest => _sum ^ (_chain * 0x9E3779B97F4A7C15);

    public async Task JoinAsync()
    {
        _group = await calls.Begin(CallKind.Join, member.ToString(), () => member.Node.JoinAsync("watched", g => g
            .Handle<ulong>("fifo", (_, id) => OnMessage(id, ordered: false))
            .Handle<ulong>("ordered", (_, id) => OnMessage(id, ordered: true))
            .OnView(OnView)
            .Checkpoint(Save, Load)).AsTask(), member.Host, mayBeOver: () => IsPartOver);
    }

    /// <summary>Notes that the process has crashed or was excluded; to be called before anything of it is judged.</summary>
    public void End()
    {
        if (!_end.HasEnded) checker.Crashed(Id);
        if (member.Host.Alive || member.Node.Completion.IsCompleted) _end.Excluded();
        else _end.Crashed();
    }

    public async Task SendAsync(ulong id, bool ordered)
    {
        checker.Sent(Id, id, ordered ? MulticastKind.Ordered : MulticastKind.Fifo);
        try
        {
            await Begin(ordered ? CallKind.OrderedSend : CallKind.Send, () => ordered ? Group.OrderedSendAsync("ordered", id).AsTask() : Group.SendAsync("fifo", id).AsTask());
            if (ordered && !_end.HasEnded) checker.Returned(id);
        }
        catch (Exception error) when (IsOver(error))
        {
            checker.Abandoned(id);
        }
    }

    /// <summary>Tells the checker that everything sent so far has gone out, if no call waits.</summary>
    public void NoteSent()
    {
        if (Group.Protocol is { Backlog.Calls: 0, View: { } view }) checker.HasSent(Id, view.Id);
    }

    public async Task FlushAsync()
    {
        var flush = checker.FlushCalled(Id);
        try
        {
            await Begin(CallKind.Flush, () => Group.FlushAsync().AsTask());
            if (!_end.HasEnded) checker.FlushReturned(flush);
        }
        catch (Exception error) when (IsOver(error))
        {
            // A flush that fails with its member promises nothing.
        }
    }

    private Task Begin(CallKind kind, Func<Task> call) => calls.Begin(kind, member.ToString(), call, member.Host, mayBeOver: () => IsPartOver);

    private bool IsPartOver => _end.HasEnded || member.Node.Completion.IsCompleted || _group is { Completion.IsCompleted: true };

    private static bool IsOver(Exception error) => error is ExcludedException or NotMemberException or NodeStoppedException;

    // What comes too late after the end goes to the checker, which reports it.
    private bool Acts() => !_end.HasEnded || _end.IsTooLate;

    private void OnMessage(ulong id, bool ordered)
    {
        if (!Acts()) return;
        checker.Delivered(Id, id);
        if (ordered) _chain = (_chain * 31) + id;
        else _sum += id * 0x9E3779B97F4A7C15;
    }

    private void OnView(View view)
    {
        if (!Acts()) return;
        if (_loadedView == view.Id) checker.CheckpointLoaded(Id, view.Id, Digest);
        checker.ViewInstalled(Id, view, Digest);
    }

    private void Save(IBufferWriter<byte> to)
    {
        var span = to.GetSpan(24);
        BinaryPrimitives.WriteUInt64LittleEndian(span, Group.CurrentView.Id + 1);
        BinaryPrimitives.WriteUInt64LittleEndian(span[8..], _sum);
        BinaryPrimitives.WriteUInt64LittleEndian(span[16..], _chain);
        to.Advance(24);
    }

    private void Load(ReadOnlyMemory<byte> state)
    {
        _loadedView = BinaryPrimitives.ReadUInt64LittleEndian(state.Span);
        _sum = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[8..]);
        _chain = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[16..]);
    }
}
