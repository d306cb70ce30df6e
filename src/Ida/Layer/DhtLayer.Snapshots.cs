namespace Ida;

/// <summary>Snapshots of a member's slice for callers: one cut at a time, over as many turns as it takes; a caller that asks meanwhile gets the next cut.</summary>
internal sealed partial class DhtLayer
{
    private const long CutPause = 300_000;
    private List<SnapshotCommand> _cutFor = [], _cutNext = [];

    public void Snapshot(SnapshotCommand command)
    {
        if (Ended is { } reason)
        {
            command.Fail(reason);
            return;
        }
        if (_participant.Slice.Cut is not null)
        {
            _cutNext.Add(command);
            return;
        }
        _participant.Slice.Cut = new(_participant.Slice.Table, _state);
        _cutFor.Add(command);
        CopyOn();
    }

    private void CopyOn()
    {
        if (_participant.Slice.Cut is not { } cut) return;
        if (cut.CopyOn(_participant.Slice))
        {
            _participant.Slice.Cut = null;
            foreach (var command in _cutFor) command.Answer(cut);
            _cutFor.Clear();
            if (_cutNext.Count == 0) return;
            (_cutFor, _cutNext) = (_cutNext, _cutFor);
            _participant.Slice.Cut = new(_participant.Slice.Table, _state);
        }
        Node.SetTimer(Node.Now + CutPause, this, CutTurn);
    }

    private void EndCuts(Exception reason)
    {
        _participant.Slice.Cut = null;
        foreach (var command in _cutFor) command.Fail(reason);
        foreach (var command in _cutNext) command.Fail(reason);
        _cutFor.Clear();
        _cutNext.Clear();
    }
}
