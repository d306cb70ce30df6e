using Ida.Kinds;
using Ida.Messages;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>A member that asks again for what it was answered, or will be, costs no more than one answer.</summary>
public sealed class RepeatedQuestionTests
{
    private const int Times = 1_000;

    /// <summary>Asked by a takeover's question, and by the proposal itself.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_the_same_question_asked_often_leaves_one_answer_that_waits(bool proposal)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var put = world.Members[0].Dht.Map<string, byte[]>("bytes").PutAsync([new("a0", new byte[9_000]), new("a1", new byte[9_000])]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        world.BulkBytes = 10_000;
        // A member of the other shard asks a member of this one for its part.
        _ = world.Members[1].Dht.Map<string, byte[]>("bytes").GetAsync(["a0", "a1"]).AsTask();
        world.Poke();
        var holder = world.Members.Single(m => world.Waiting(1, m.Index) > 0);
        world.Deliver(1, holder.Index);
        var participant = holder.Host.Current!.Participant;
        var key = participant.Records.Oldest!.Key;
        for (int i = 0; i < Times; i++)
        {
            holder.Turn(() =>
            {
                if (!proposal) participant.Recover(key, owner: 1, from: 1, OperationKind.Get, reject: false, withTime: false);
                else
                {
                    var again = participant.Records.New();
                    again.Key = key;
                    participant.Propose(again, from: 1, hint: 1, ackedBelow: 0);
                }
            });
        }
        world.BulkBytes = long.MaxValue;
        holder.OnRoom(1);
        // What there was room for, and one answer of each kind.
        Assert.InRange(world.Waiting(holder.Index, 1), 1, 4);
    }

    [Fact]
    public void R_an_answer_that_is_given_again_takes_the_place_of_the_first()
    {
        var due = new AnswersDue(new());
        due.Add(2, Answer(DhtFrame.Proposed, 7, 100));
        due.Add(2, Answer(DhtFrame.Quiescent, 7, 300));
        due.Add(2, Answer(DhtFrame.Proposed, 8, 100));
        due.Add(2, Answer(DhtFrame.Quiescent, 7, 200));
        due.Add(2, Answer(DhtFrame.Proposed, 7, 100));
        Assert.Equal(3, due.Count);
        var taken = new List<(GroupCore.Wire.FrameType, ulong)>();
        while (due.TryTake(2, out var next)) taken.Add((next.Type, next.Question.Id.Sequence));
        Assert.Equal([(DhtFrame.Proposed, 7), (DhtFrame.Quiescent, 7), (DhtFrame.Proposed, 8)], taken);
        Assert.Equal((0, 0L), (due.Count, due.Bytes));
    }

    /// <summary>
    /// An asker repeats its question, and takes answers as fast as they come, while one always waits. Of answers to a read of one key each stands by itself; of
    /// other answers one of each kind is kept.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_answers_that_were_sent_are_not_kept_by_those_that_wait(bool many)
    {
        var due = new AnswersDue(new());
        DueAnswer? newest = null;
        for (int i = 0; i < 100; i++)
        {
            newest = Answer(!many ? DhtFrame.Value : i % 2 == 0 ? DhtFrame.Proposed : DhtFrame.Quiescent, 7, 100);
            due.Add(2, newest);
            if (i > 0) Assert.True(due.TryTake(2, out _));
        }
        Assert.Equal(1, due.Count);
        int reached = 0;
        for (var before = newest!.Before; before is { Value: not null }; before = before.Value.Before) reached++;
        Assert.Equal(0, reached);
    }

    private static DueAnswer Answer(GroupCore.Wire.FrameType type, ulong request, int bytes) => new(type, new(new(1, request), 1), [1, 2], [(new byte[bytes], 1)]);
}
