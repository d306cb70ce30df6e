using System.Buffers.Binary;
using System.Text;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.State;

/// <summary>
/// What this member gives to the joiners of the current view, if it coordinates the view: it has the checkpoint cut, tells the joiners every second how far that is, and
/// sends the checkpoint, or tells them why there is none. On the loop; lives as long as the membership.
/// </summary>
internal sealed class StateOffer(IViewMember group) : ITimerTarget
{
    private const long LateCut = -1;
    private const int SignHead = 9;
    private const int SignTextBytes = 1_024;
    private View? _view;
    private StateCut? _saving;
    private StateCut? _lateCut;
    private StateGiver? _giver;

    /// <summary>The checkpoints that are being written.</summary>
    public StateWriting Writing { get; } = new(group.Node, group.HostOptions.SaveTimeout);

    /// <summary>The checkpoint is an event of its own between the last event of the old view and the view event, which is added next (R16).</summary>
    public void Begin(View view)
    {
        _view = view;
        if (!IsToGive(view))
        {
            Writing.Forget();
            return;
        }
        var cut = new StateCut(this, group.Node, view, group.HostOptions.MaxCheckpointBytes);
        // From now on the joiners of this view hear every second that their giver is alive, and how far it is.
        _saving = cut;
        SetSignTimer(view);
        if (group.Rules.R16CheckpointAtEvent)
        {
            group.Dispatcher.Add(new() { Kind = EventKind.Save, Target = cut });
            return;
        }
        _lateCut = cut;
        group.Node.SetTimer(group.Node.Now + 20_000_000, this, LateCut);
    }

    /// <summary>Whether this member has to give the checkpoint to members of the view without state: the coordinator does.</summary>
    private bool IsToGive(View view)
    {
        if (view.Coordinator != group.Rank) return false;
        for (int rank = 0; rank < view.Members.Count; rank++)
            if (!view.Members[rank].Initialised && rank != group.Rank) return true;
        return false;
    }

    /// <summary>A checkpoint is written, or has failed: sends it, or tells the joiners why, if its view is still current.</summary>
    public void Send(StateCut cut)
    {
        group.Touch();
        if (!ReferenceEquals(cut.View, _view) || group.IsWedged || !cut.TryTell()) return;
        Writing.Forget();
        if (cut.Error is { } error)
        {
            // This member cannot serve the group's joiners: they hear why.
            TellJoiners();
            group.ReportLater(new("checkpoint", default, error));
            return;
        }
        _giver = new(group, cut.View, cut.Bytes, cut.Hash);
        _giver.Start();
    }

    /// <summary>A joiner acknowledges what it received. Untrusted.</summary>
    public void OnAck(int rank, ReadOnlySpan<byte> body)
    {
        if (_giver is { } giver) giver.OnAck(rank, body);
        else group.Node.Counters.Refuse(RefusalReason.Unexpected);
    }

    /// <summary>The link to a member has room again.</summary>
    public void OnRoom(int rank) => _giver?.OnRoom(rank);

    /// <summary>What was on the link to a member is lost.</summary>
    public void OnLinkLost(int rank) => _giver?.OnLinkLost(rank);

    /// <summary>The view is over, or the membership.</summary>
    public void Close()
    {
        if (_saving is { } saving) Writing.Drop(saving);
        (_view, _saving, _lateCut, _giver) = (null, null, null, null);
    }

    void ITimerTarget.OnTimer(long token)
    {
        group.Touch();
        if (token != LateCut)
        {
            if ((ulong)token == _view?.Id) LookAtSave();
        }
        else if (_lateCut is { } cut && ReferenceEquals(cut.View, _view)) group.Dispatcher.Add(new() { Kind = EventKind.Save, Target = cut });
    }

    private void SetSignTimer(View view) => group.Node.SetTimer(group.Node.Now + GroupLimits.StateSignNanoseconds, this, (long)view.Id);

    private void LookAtSave()
    {
        if (_saving is not { } cut || group.IsWedged) return;
        Writing.GiveUpQuietCuts(cut);
        if (cut.Error is null) TellJoiners();
        else Send(cut);
    }

    /// <summary>StateSign: <see cref="StatePhase"/> u8, events handled u64, reason of a failure in UTF-8.</summary>
    private void TellJoiners()
    {
        if (_saving is not { } cut || _view is not { } view || group.IsWedged) return;
        // Read once: the worker may fail meanwhile, and a failure is told once, with its text. Waiting in line is part of the saving, and bounded like it.
        var phase = cut.Phase == StatePhase.Queued && cut.IsInLine ? StatePhase.Saving : cut.Phase;
        byte[] text = phase == StatePhase.Failed ? Encoding.UTF8.GetBytes(Shortened(cut.ErrorText)) : [];
        for (int rank = 0; rank < view.Members.Count; rank++)
        {
            if (view.Members[rank].Initialised || rank == group.Rank) continue;
            var frame = group.Links.Frame(FrameType.StateSign, SignHead + text.Length);
            frame[0] = (byte)phase;
            BinaryPrimitives.WriteInt64LittleEndian(frame[1..], group.Dispatcher.Position);
            text.CopyTo(frame[SignHead..]);
            group.Links.SendTo(rank);
        }
        if (phase != StatePhase.Failed) SetSignTimer(view);
    }

    private static string Shortened(string text) => text.Length <= SignTextBytes / 3 ? text : text[..(SignTextBytes / 3)];
}
