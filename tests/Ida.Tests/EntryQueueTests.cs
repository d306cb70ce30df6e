using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Ordering;

namespace Ida.Tests;

/// <summary>The queue of a key knows its first put, and its first put that is not executed, whatever comes, goes or changes its place.</summary>
public sealed class EntryQueueTests
{
    [Fact]
    public void The_first_put_of_a_queue_is_known_after_each_step()
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            var random = new Prng(seed);
            var queue = new KeyQueue();
            var entry = new Entry([1], 1) { Queue = queue };
            var queued = new List<KeyUse>();
            for (uint step = 1; step <= 400; step++)
            {
                int choice = random.Next(queued.Count < 3 ? 1 : 4);
                if (choice == 0)
                {
                    var op = new ParticipantRecord(new()) { Key = new(new(1, step), 1), Kind = OperationKind.Of(random.Next(3) == 0), Proposed = (ulong)random.Next(100) + 1 };
                    op.Move(RecordPhase.Proposed);
                    queued.Add(op.AddUse(entry, new(KeyEffect.Read)));
                    queue.Enqueue(queued[^1]);
                }
                else
                {
                    var use = queued[random.Next(queued.Count)];
                    if (choice == 3)
                    {
                        if (use.Op is { Committed: true, Executed: false }) use.Op.Execute();
                        AssertFirst();
                        continue;
                    }
                    if (choice == 1 && !use.Op.Committed) use.Op.Commit(use.Op.Proposed + (ulong)random.Next(50));
                    queue.Dequeue(use);
                    if (choice == 1) queue.Enqueue(use);
                    else queued.Remove(use);
                }
                AssertFirst();
            }
            queue.Reset();
            Assert.True(queue is { FirstPut: null, FirstUnexecuted: null });

            void AssertFirst()
            {
                var puts = queued.Where(static use => use.Op.Kind.Changes).OrderBy(static use => use.Op.Position).ThenBy(static use => use.Op.Key).ToList();
                Assert.Same(puts.FirstOrDefault(), queue.FirstPut);
                Assert.Same(puts.Find(static use => !use.Op.Executed), queue.FirstUnexecuted);
                Assert.Equal(puts.Count, queue.Puts);
            }
        }
    }
}
