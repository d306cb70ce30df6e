using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>A call that nobody awaits is released when it has ended, like one that was awaited.</summary>
public sealed class UnawaitedSendTests
{
#pragma warning disable CA2012, xUnit1031 // The misuse is what is tested.
    [Fact]
    public void R_a_token_does_not_hold_the_calls_that_nobody_awaited()
    {
        var world = new LoopbackGroup();
        var member = world.Members[0];
        using var cancel = new CancellationTokenSource();
        for (int i = 0; i < 100; i++)
        {
            _ = member.Group.OrderedSendAsync("bytes", new ReadOnlyMemory<byte>(new byte[100]), cancel.Token);
            _ = member.Group.SendToAsync(1, "bytes", new ReadOnlyMemory<byte>(new byte[100]), cancel.Token);
        }
        world.Run();
        Assert.Equal(400, world.Delivered);
        // A call that the token still held would now make its group look for calls to end.
        cancel.Cancel();
        Assert.False(((Node)member.Node).HasCommands);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_result_that_is_taken_too_early_or_twice_harms_no_other_call(bool toOne)
    {
        var world = new LoopbackGroup();
        var group = world.Members[0].Group;
        var early = Send();
        Assert.Throws<InvalidOperationException>(() => early.GetAwaiter().GetResult());
        var other = Send();
        world.Run();
        Assert.Equal(toOne ? 2 : 6, world.Delivered);
        early.GetAwaiter().GetResult();
        Assert.Throws<InvalidOperationException>(() => early.GetAwaiter().GetResult());
        other.GetAwaiter().GetResult();
        var third = Send();
        var fourth = Send();
        world.Run();
        Assert.Equal(toOne ? 4 : 12, world.Delivered);
        third.GetAwaiter().GetResult();
        fourth.GetAwaiter().GetResult();

        ValueTask Send() => toOne ? group.SendToAsync(1, "number", 1L) : group.OrderedSendAsync("number", 1L);
    }
#pragma warning restore CA2012, xUnit1031
}
