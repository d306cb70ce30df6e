using Ida.Messages;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Answers that wait for room on the links of their askers: in what order they go, and how much may wait.</summary>
public sealed class AnswersDueTests
{
    private const int Most = 8;
    private readonly AnswersDue _due = new(new() { MaxOperations = Most, MaxInFlightBytes = 1_000 });
    private ulong _request;

    [Fact]
    public void Each_asker_gets_its_own_answers_in_order()
    {
        for (int i = 0; i < 3; i++)
        {
            Add(5);
            Add(2);
        }
        Assert.Equal(6, _due.Count);
        Assert.Equal([2, 4, 6], Taken(2));
        Assert.True(_due.HasAny(5));
        Assert.Equal([1, 3, 5], Taken(5));
        Assert.False(_due.TryTake(5, out _) || _due.TryTake(1_000, out _));
        Assert.Equal((0, 0L), (_due.Count, _due.Bytes));
    }

    [Fact]
    public void One_asker_has_half_of_all()
    {
        for (int i = 0; i < Most / 2; i++)
        {
            Assert.False(_due.IsFull(2));
            Add(2);
        }
        Assert.True(_due.IsFull(2));
    }

    [Fact]
    public void Two_askers_have_a_third_each()
    {
        for (int i = 0; i < 3; i++)
        {
            Assert.False(_due.IsFull(2) || _due.IsFull(3));
            Add(2);
            Add(3);
        }
        Assert.True(_due.IsFull(2) && _due.IsFull(3));
    }

    [Fact]
    public void An_asker_that_is_owed_nothing_is_always_answered()
    {
        for (int i = 0; i < 10 * Most; i++) Add(2);
        Assert.True(_due.IsFull(2));
        Assert.False(_due.IsFull(3) || _due.IsFull(1_000));
    }

    [Fact]
    public void Bytes_are_shared_as_numbers_are()
    {
        Add(2, bytes: 1_978);
        Assert.False(_due.IsFull(2));
        Add(2, bytes: 0);
        Assert.True(_due.IsFull(2));
        Assert.True(_due.TryTake(2, out _));
        Assert.False(_due.IsFull(2));
        Assert.Equal(21L, _due.Bytes);
    }

    [Fact]
    public void All_end_with_the_view()
    {
        Add(2);
        Add(3);
        _due.Clear();
        Assert.False(_due.HasAny(2) || _due.TryTake(3, out _));
        Assert.Equal((0, 0L), (_due.Count, _due.Bytes));
        Add(2);
        Assert.Single(Taken(2));
    }

    [Fact]
    public void A_value_stands_alone_behind_its_head_and_several_have_their_count()
    {
        Assert.Equal("AA0102", Written(new(DhtFrame.Value, new(new(0, 1), 1), [0xAA], [(new byte[] { 1, 2 }, 9)], DhtMessages.WriteWaitingValue)));
        Assert.Equal("AA020901020102" + "0000", Written(new(DhtFrame.Proposed, new(new(1, 1), 1), [0xAA], [(new byte[] { 1, 2 }, 9), (null, 0)], DhtMessages.WriteWaitingResult)));
        Assert.Equal("AA", Written(new(DhtFrame.Proposed, new(new(1, 1), 1), [0xAA], [])));

        static string Written(DueAnswer answer)
        {
            var to = new BodyWriter(new byte[100]);
            answer.Write(ref to);
            return Convert.ToHexString(to.Written);
        }
    }

    private void Add(int rank, int bytes = 0) => _due.Add(rank, new(DhtFrame.Proposed, new(new(1, ++_request), 1), [1], [(new byte[bytes], 1)]));

    private List<int> Taken(int rank)
    {
        var taken = new List<int>();
        while (_due.TryTake(rank, out var answer)) taken.Add((int)answer.Question.Id.Sequence);
        return taken;
    }
}
