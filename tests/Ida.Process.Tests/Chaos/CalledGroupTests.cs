using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Chaos.Members;
using Ida.Testing.Checking;

namespace Ida.Process.Tests.Chaos;

/// <summary>How chaos judges the group in which every call is made: a message that is lost or comes twice is found, and so is a query that is not answered.</summary>
public sealed class CalledGroupTests
{
    private static readonly ProcessId s_a = new(1, 1), s_b = new(2, 1);

    [Fact]
    public void Messages_that_follow_each_other_are_right_from_wherever_they_begin()
    {
        var heard = new HeardMessages();
        Assert.All([5UL, 6UL, 7UL], number => Assert.Null(heard.Hear("fifo", s_a, number, anew: false)));
        Assert.Null(heard.Hear("fifo", s_b, 1, anew: false));
        Assert.Null(heard.Hear("one", s_a, 1, anew: false));
        Assert.Null(heard.Hear("fifo", s_a, 9, anew: true));
        Assert.Null(heard.Hear("fifo", s_a, 10, anew: false));
    }

    [Fact]
    public void A_message_that_is_lost_or_comes_again_is_found()
    {
        var heard = new HeardMessages();
        heard.Hear("fifo", s_a, 5, anew: false);
        Assert.Contains("those between never came", heard.Hear("fifo", s_a, 7, anew: false), StringComparison.Ordinal);
        Assert.Contains("after message 7", heard.Hear("fifo", s_a, 7, anew: false), StringComparison.Ordinal);
        Assert.Contains("after message 7", heard.Hear("fifo", s_a, 6, anew: true), StringComparison.Ordinal);
    }

    [Fact]
    public void The_last_message_is_missed_by_the_question_behind_it()
    {
        var heard = new HeardMessages();
        Assert.Null(heard.Expect("fifo", s_a, 6));
        heard.Hear("fifo", s_a, 5, anew: false);
        Assert.Null(heard.Expect("fifo", s_a, 5));
        Assert.Null(heard.Expect("fifo", s_a, 0));
        Assert.Contains("message 6 was sent before", heard.Expect("fifo", s_a, 6), StringComparison.Ordinal);
    }

    [Fact]
    public void An_ordered_message_is_missed_by_the_ordered_question_behind_it()
    {
        var broken = new List<string>();
        var seat = new CalledSeat(s_b, broken.Add);
        MemberRef from = new(0, Member(1));
        seat.OnState(from, (1, 6));
        seat.OnOrdered(from, (5, false));
        seat.OnState(from, (2, 5));
        seat.OnState(from, (3, 0));
        // The other order counts by itself, and nothing was heard in it.
        seat.OnAsked(from, (4, 6));
        Assert.Empty(broken);
        seat.OnState(from, (5, 6));
        Assert.Contains("the last message that came to 'ordered' is 5, and message 6 was sent before", Assert.Single(broken), StringComparison.Ordinal);
    }

    [Fact]
    public void A_message_that_was_not_sent_leaves_its_number_to_the_next()
    {
        var numbers = new Numbering();
        numbers.Note(CallEnd.Done);
        numbers.Note(CallEnd.NotDone);
        Assert.Equal((2UL, false), numbers.Next);
        numbers.Note(CallEnd.Perhaps);
        Assert.Equal(((3UL, true), 0UL), (numbers.Next, numbers.Last));
        numbers.Note(CallEnd.NotDone);
        Assert.True(numbers.Next.Anew);
        numbers.Note(CallEnd.Done);
        Assert.Equal(((4UL, false), 3UL), (numbers.Next, numbers.Last));
    }

    [Fact]
    public void Fewer_answers_than_were_asked_for_are_found()
    {
        var view = View(1, Member(1), Member(2), Member(3), Member(4, initialised: false));
        Assert.Contains("nobody", Answers.Missing(Replies.First, [], view, []), StringComparison.Ordinal);
        Assert.Null(Answers.Missing(Replies.First, From(view, 3), view, []));
        Assert.Contains("1 of 3", Answers.Missing(Replies.Majority, From(view, 0), view, []), StringComparison.Ordinal);
        Assert.Null(Answers.Missing(Replies.Majority, From(view, 0, 2), view, []));
        Assert.Contains("not by rank", Answers.Missing(Replies.All, From(view, 1, 0, 2), view, []), StringComparison.Ordinal);
        Assert.Null(Answers.Missing(Replies.All, From(view, 0, 1, 2), view, []));
    }

    [Fact]
    public void A_query_for_all_answers_may_miss_no_member_that_stays()
    {
        var view = View(1, Member(1), Member(2), Member(3));
        Assert.Contains($"{view.Members[1].Id} has not answered", Answers.Missing(Replies.All, From(view, 0, 2), view, []), StringComparison.Ordinal);
        View with = View(2, Member(1), Member(2)), without = View(3, Member(1), Member(3));
        Assert.Contains("from view 1 to view 2", Answers.Missing(Replies.All, From(view, 0, 2), view, [with]), StringComparison.Ordinal);
        Assert.Null(Answers.Missing(Replies.All, From(view, 0, 2), view, [with, without]));
    }

    private static ViewMember Member(ulong node, bool initialised = true) => new(new(node, 1), default, initialised, "");

    private static View View(ulong id, params ViewMember[] members) => new(default, "called", id, id, new(), members, [], [], [], []);

    private static MemberRef[] From(View view, params int[] ranks) => [.. ranks.Select(rank => new MemberRef(rank, view.Members[rank]))];
}
