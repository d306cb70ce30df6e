using GroupCore.Diagnostics;

namespace Ida.Coordination;

/// <summary>Which members the operations of this member wait for.</summary>
internal sealed partial class Coordinator
{
    private const int MostLookedAt = 1_024;

    /// <summary>Inside a turn. Of the operations in flight it looks only at the first ones.</summary>
    public void Describe(Description text)
    {
        if (_open.InFlight.Count + _open.Waiting.Count + _open.Parked.Count + Takeovers.Count == 0) return;
        text.Open($"operations of this member: {_open.InFlight.Count} in flight, {_open.Waiting.Count} wait for a place, {_open.Parked.Count} wait for one member; {Takeovers.Count} of others taken over");
        var waits = new SortedDictionary<int, (int Proposal, int Quiescence)>();
        int looked = 0;
        for (var op = _open.InFlight.First; op is not null && looked < MostLookedAt; op = op.Next, looked++)
            if (op.Running is { } running) NoteWaits(running, waits);
        foreach (var running in Takeovers.All) NoteWaits(running, waits);
        text.List(waits, waits.Count, (text, wait) => text.Line(
            $"slot {wait.Key} at {AddressOf(wait.Key)}: {wait.Value.Proposal} wait for its proposal, {wait.Value.Quiescence} until it has executed what comes before"));
        text.Close();
    }

    private static void NoteWaits(CoordinatedOperation running, SortedDictionary<int, (int Proposal, int Quiescence)> waits)
    {
        for (int i = 0; i < running.Count; i++)
        {
            if ((running.Flags[i] & SlotFlags.Answered) != SlotFlags.None) continue;
            var (proposal, quiescence) = waits.GetValueOrDefault(running.Slots[i]);
            waits[running.Slots[i]] = (running.Flags[i] & SlotFlags.Proposed) == SlotFlags.None ? (proposal + 1, quiescence) : (proposal, quiescence + 1);
        }
    }

    private string AddressOf(int slot) =>
        _state.Map?.RankOfSlot(slot) is >= 0 and var rank && _state.Port.View is { } view && rank < view.Members.Count ? $"{view.Members[rank].Address}" : "no member";
}
