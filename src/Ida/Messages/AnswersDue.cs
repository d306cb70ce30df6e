using System.Runtime.InteropServices;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>
/// Answers that wait, by the member that asked. They go out in order as its link takes them, and end with the view. An answer to an
/// attempt is dropped when an answer to a later attempt of the same issuer at the same operation comes: no call waits for it any more. When a participant is
/// asked the same again, its new answer replaces the waiting one: for one attempt, at most one answer of each kind waits. For attempts that several members
/// may issue, no answer is dropped for a later attempt's (<see cref="DueAnswer.Question"/>). Source: dht-order.md#attempts-of-different-issuers.
/// </summary>
/// <remarks>
/// Bounded, because each asker bounds what it asks for (<see cref="DhtMemberOptions.MaxInFlight"/>, <see cref="DhtMemberOptions.MaxInFlightBytes"/>),
/// and because a member takes no more questions from an asker that is owed as much as is left for all: so one asker that takes nothing holds
/// half of the room, two hold a third each, and an asker that is owed nothing is always answered. Source: dynamic thresholds of shared buffers, Choudhury
/// and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.
/// </remarks>
internal sealed class AnswersDue(DhtMemberOptions options)
{
    private Debt?[] _to = [];

    /// <summary>Number of waiting answers.</summary>
    public int Count { get; private set; }

    /// <summary>Bytes that the waiting answers keep alive, at most.</summary>
    public long Bytes { get; private set; }

    /// <summary>Whether no more questions of an asker may be taken.</summary>
    public bool IsFull(int rank) => HasAny(rank)
        && (_to[rank]!.Waiting.Count >= options.MaxOperations - Count || _to[rank]!.Bytes >= (4 * options.MaxInFlightBytes) - Bytes);

    public bool HasAny(int rank) => Count > 0 && rank < _to.Length && _to[rank] is { Waiting.Count: > 0 };

    // Rare: it may allocate.
    public void Add(int rank, DueAnswer answer)
    {
        if (rank >= _to.Length) Array.Resize(ref _to, rank + 1);
        var debt = _to[rank] ??= new();
        ref var newest = ref CollectionsMarshal.GetValueRefOrAddDefault(debt.Newest, answer.Question, out _);
        if (newest is not null && newest.Value.Attempt > answer.Attempt) return;
        for (var replaced = newest; replaced is { List: not null } && replaced.Value.Attempt < answer.Attempt; replaced = replaced.Value.Before) RemoveAnswer(debt, replaced);
        // The one-key reads of an operation each wait for an answer: these answers do not replace each other.
        for (var same = answer.Type == DhtFrame.Value ? null : newest; same is { List: not null }; same = same.Value.Before)
        {
            if (same.Value.Type != answer.Type) continue;
            Replace(debt, same, answer);
            return;
        }
        answer.Before = newest is { List: not null } ? newest : null;
        newest = debt.Waiting.AddLast(answer);
        debt.Bytes += answer.Bytes;
        Count++;
        Bytes += answer.Bytes;
    }

    public bool TryTake(int rank, out DueAnswer answer)
    {
        answer = null!;
        if (!HasAny(rank)) return false;
        var debt = _to[rank]!;
        var first = debt.Waiting.First!;
        answer = first.Value;
        RemoveAnswer(debt, first);
        if (debt.Newest[answer.Question] == first) debt.Newest.Remove(answer.Question);
        // A later answer that waits may still refer to this node: empty it, so that it keeps no sent answer alive.
        (first.Value, answer.Before) = (null!, null);
        return true;
    }

    /// <summary>The view is over.</summary>
    public void Clear()
    {
        _to = [];
        (Count, Bytes) = (0, 0);
    }

    private void Replace(Debt debt, LinkedListNode<DueAnswer> node, DueAnswer answer)
    {
        int more = answer.Bytes - node.Value.Bytes;
        answer.Before = node.Value.Before;
        node.Value = answer;
        debt.Bytes += more;
        Bytes += more;
    }

    private void RemoveAnswer(Debt debt, LinkedListNode<DueAnswer> node)
    {
        debt.Waiting.Remove(node);
        debt.Bytes -= node.Value.Bytes;
        Count--;
        Bytes -= node.Value.Bytes;
    }

    /// <summary>The answers that one asker is owed.</summary>
    private sealed class Debt
    {
        public readonly LinkedList<DueAnswer> Waiting = new();

        /// <summary>The newest waiting answer to each question; earlier answers to the same question are linked to it.</summary>
        public readonly Dictionary<AttemptId, LinkedListNode<DueAnswer>> Newest = [];
        public long Bytes;
    }
}
