using Ida.Coordination;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>
/// A message to this member itself takes a short cut: answers of its participant are queued as structs and handed to its coordinator at the end of the step, so that no part of the
/// protocol is re-entered. Results are handed over at once.
/// </summary>
internal sealed partial class DhtMessages
{
    private readonly Queue<LocalMessage> _local = new();
    private readonly Queue<LocalValue> _values = new();

    /// <summary>Passes the answers of this member's participant to its coordinator.</summary>
    public void Drain()
    {
        if (!state.Acts) return;
        while (true)
        {
            if (_values.TryDequeue(out var value))
            {
                Coordinator.OnLocalValue(value);
                continue;
            }
            if (!_local.TryDequeue(out var message)) return;
            int self = state.Rank;
            switch (message.Type)
            {
                case DhtFrame.Proposed: Coordinator.Attempts.OnProposed(message.Key, self, message.Time, message.Quiescent, message.HasResult); break;
                case DhtFrame.Quiescent: Coordinator.Attempts.OnQuiescent(message.Key, self, message.Quiescent); break;
                case DhtFrame.Stable: Coordinator.Takeovers.OnStable(message.Key); break;
                case DhtFrame.Executed: Coordinator.Attempts.OnExecuted(message.Key, self); break;
                case DhtFrame.Rejected: Coordinator.Attempts.OnRejected(message.Key, self, message.Reason); break;
                case DhtFrame.NotHeld: Coordinator.Takeovers.OnNotHeld(message.Key, self, message.AskedWithTime); break;
            }
        }
    }

    /// <summary>At a view change: nothing of the old view remains.</summary>
    public void Forget()
    {
        _local.Clear();
        _values.Clear();
        _due.Clear();
    }

    private bool IsLocal(int to) => to == state.Rank;
}
