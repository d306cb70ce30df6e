using System.Reflection;
using Ida.Kinds;
using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A key has a queue while it is in use, and the next key gets the queue clean; and the bytes that an entry and a queue take.</summary>
public sealed class KeyQueuesTests
{
    private readonly KeyQueues _queues = new();

    [Fact]
    public void A_key_has_one_queue_from_its_first_use_until_it_rests()
    {
        var entry = new Entry([1], 1);
        var queue = _queues.Of(entry);
        Assert.Same(queue, _queues.Of(entry));
        Assert.Equal((1, 0), (_queues.Lent, _queues.Free));
        var use = Use(entry, 1, put: true);
        queue.Arrive(use);
        AssertStays();
        use.Leave();
        queue.Arrive(new ReadWait());
        AssertStays();
        queue.FirstWait = queue.LastWait = null;
        for (int times = 0; times < 2; times++)
        {
            _queues.Rest(entry);
            Assert.True(entry is { Queue: null, Idle: true });
            Assert.Equal((0, 1), (_queues.Lent, _queues.Free));
        }
        // When its key is at rest, a use is in no queue.
        use.Leave();

        void AssertStays()
        {
            _queues.Rest(entry);
            Assert.Same(queue, entry.Queue);
            Assert.False(entry.Idle);
        }
    }

    [Fact]
    public void A_queue_that_another_key_gets_is_clean()
    {
        var (first, second) = (new Entry([1], 1), new Entry([2], 2));
        var queue = _queues.Of(first);
        for (uint i = 1; i <= 3; i++) queue.Arrive(Use(first, i, put: i > 1));
        queue.Arrive(new ReadWait());
        queue.Writer = queue.FirstPut!.Op;
        var fields = typeof(KeyQueue).GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);
        Assert.DoesNotContain(fields, IsClean);
        _queues.TakeBack(first);
        Assert.Same(queue, _queues.Of(second));
        Assert.All(fields, field => Assert.True(IsClean(field), field.Name));
        Assert.Null(first.Queue);

        bool IsClean(FieldInfo field) => field.GetValue(queue) is null or 0 or 0L;
    }

    [Fact]
    public void No_more_queues_are_kept_than_the_largest_operation_takes()
    {
        var entries = Enumerable.Range(0, KeyQueues.MostFree + 100).Select(static i => new Entry([1], (ulong)i)).ToList();
        foreach (var entry in entries) _queues.Of(entry);
        Assert.Equal((entries.Count, 0), (_queues.Lent, _queues.Free));
        foreach (var entry in entries) _queues.Rest(entry);
        Assert.Equal((0, KeyQueues.MostFree), (_queues.Lent, _queues.Free));
        _queues.Forget();
        Assert.Equal((0, 0), (_queues.Lent, _queues.Free));
    }

    /// <summary>An operation that is executed and leaves is no writer that a later reader would have to wait for.</summary>
    [Fact]
    public void A_writer_that_leaves_the_queue_is_forgotten()
    {
        var entry = new Entry([1], 1);
        var queue = _queues.Of(entry);
        var (first, second) = (Use(entry, 1, put: true), Use(entry, 2, put: true));
        queue.Arrive(first);
        queue.Arrive(second);
        queue.Writer = first.Op;
        second.Leave();
        Assert.Same(first.Op, queue.Writer);
        first.Leave();
        Assert.Null(queue.Writer);
    }

    [Fact]
    public void What_is_known_of_an_entry_holds_for_one_view()
    {
        var entry = new Entry([1], 1);
        entry.Know(7, wasAbsent: true);
        entry.Know(7);
        Assert.Equal((7u, true), (entry.KnownIn, entry.WasAbsent));
        entry.Know(8);
        Assert.Equal((8u, false), (entry.KnownIn, entry.WasAbsent));
        entry.Know(8, wasAbsent: true);
        Assert.Equal((8u, true), (entry.KnownIn, entry.WasAbsent));
    }

    [Fact]
    public void An_entry_takes_80_bytes_and_the_queue_of_a_key_in_use_88()
    {
        byte[] key = [1];
        Assert.Equal((80L, 88L), (BytesOf(() => new Entry(key, 1)), BytesOf(static () => new KeyQueue())));
    }

    private static KeyUse Use(Entry entry, uint number, bool put)
    {
        var op = new ParticipantRecord(new()) { Key = new(new(1, number), 1), Kind = OperationKind.Of(put), Proposed = number };
        op.Move(RecordPhase.Proposed);
        return op.AddUse(entry, new(KeyEffect.Read));
    }

    private static long BytesOf(Func<object> make)
    {
        object[] made = new object[10_000];
        made[0] = make();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < made.Length; i++) made[i] = make();
        return (GC.GetAllocatedBytesForCurrentThread() - before) / made.Length;
    }
}
