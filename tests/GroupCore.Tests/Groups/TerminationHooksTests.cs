using GroupCore.Groups;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>The hooks of a member in one proposal (views-and-flush.md#a-hook-has-two-seconds-of-each-proposal).</summary>
public sealed class TerminationHooksTests
{
    private readonly TerminationHooks _hooks = Of(2);

    [Fact]
    public void The_flush_waits_until_all_hooks_have_ended()
    {
        Assert.True(_hooks.IsOpen);
        Assert.True(_hooks.End(_hooks.Contexts[1]));
        Assert.True(_hooks.IsOpen);
        Assert.True(_hooks.End(_hooks.Contexts[0]));
        Assert.False(_hooks.IsOpen);
        Assert.False(_hooks.IsGivenUp);
    }

    [Fact]
    public void Without_hooks_nothing_is_waited_for() => Assert.False(Of(0).IsOpen);

    [Fact]
    public void A_hook_may_send_until_it_has_ended()
    {
        Assert.True(_hooks.Awaits(_hooks.Contexts[0]));
        _hooks.End(_hooks.Contexts[0]);
        Assert.False(_hooks.Awaits(_hooks.Contexts[0]));
        Assert.True(_hooks.Awaits(_hooks.Contexts[1]));
    }

    [Fact]
    public void A_hook_ends_once()
    {
        Assert.True(_hooks.End(_hooks.Contexts[0]));
        Assert.False(_hooks.End(_hooks.Contexts[0]));
        Assert.True(_hooks.IsOpen);
    }

    [Fact]
    public void Hooks_that_are_given_up_are_waited_for_no_more_and_may_not_send()
    {
        _hooks.GiveUp();
        Assert.Equal((false, true), (_hooks.IsOpen, _hooks.IsGivenUp));
        Assert.False(_hooks.Awaits(_hooks.Contexts[0]) || _hooks.End(_hooks.Contexts[0]));
    }

    [Fact]
    public void A_hook_of_another_proposal_is_none_of_them()
    {
        var other = Of(1).Contexts[0];
        Assert.False(_hooks.Awaits(other) || _hooks.End(other));
        Assert.True(_hooks.IsOpen);
    }

    private static TerminationHooks Of(int count) => new(new NoGroup(), new(new(1, 1), 2, 1, [], [], []), FlatView.Of(1), count);

    private sealed class NoGroup : IHookPort
    {
        public ValueTask Send<T>(TerminationContext hook, int rank, string handler, T message) => throw new NotSupportedException();

        public void End(TerminationContext hook) => throw new NotSupportedException();

        public void Report(GroupError error) => throw new NotSupportedException();
    }
}
