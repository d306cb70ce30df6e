using GroupCore.Diagnostics;

namespace Ida.Coordination;

/// <summary>Which members the operations of this member wait for.</summary>
internal sealed partial class Coordinator
{
    private const int MostLookedAt = 1_024;
    private const SlotFlags Answered = SlotFlags.Quiescent | SlotFlags.Executed | SlotFlags.Rejected | SlotFlags.NotHeld | SlotFlags.Result;

    /// <summary>Inside a turn. Looks at the first of the operations in flight.</summary>
    public void Describe(Description text)
    {
        if (_inFlight.Count + _waiting.Count + _parked.Count + _takeovers.Count == 0) return;
        text.Open($"operations of this member: {_inFlight.Count} in flight, {_waiting.Count} wait for a place, {_parked.Count} wait for one member; {_takeovers.Count} of others taken over");
        var waits = new SortedDictionary<int, (int Proposal, int Quiescence)>();
        int looked = 0;
        for (var op = _inFlight.First; op is not null && looked < MostLookedAt; op = op.Next, looked++)
            if (op.Running is { } running) NoteWaits(running, waits);
        foreach (var running in _takeovers) NoteWaits(running, waits);
        text.List(waits, waits.Count, (text, wait) => text.Line(
            $"slot {wait.Key} at {AddressOf(wait.Key)}: {wait.Value.Proposal} wait for its proposal, {wait.Value.Quiescence} until it has executed what comes before"));
        text.Close();
    }

    private static void NoteWaits(CoordinatedOperation running, SortedDictionary<int, (int Proposal, int Quiescence)> waits)
    {
        for (int i = 0; i < running.Count; i++)
        {
            if ((running.Flags[i] & Answered) != SlotFlags.None) continue;
            var (proposal, quiescence) = waits.GetValueOrDefault(running.Slots[i]);
            waits[running.Slots[i]] = (running.Flags[i] & SlotFlags.Proposed) == SlotFlags.None ? (proposal + 1, quiescence) : (proposal, quiescence + 1);
        }
    }

    private string AddressOf(int slot) =>
        state.Map?.RankOfSlot(slot) is >= 0 and var rank && state.Port.View is { } view && rank < view.Members.Count ? $"{view.Members[rank].Address}" : "no member";
}
