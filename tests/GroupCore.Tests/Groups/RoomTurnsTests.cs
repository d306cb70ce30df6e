using GroupCore.Groups.Shared;

namespace GroupCore.Tests.Groups;

/// <summary>Whose turn it is when a link has room.</summary>
public sealed class RoomTurnsTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(5)]
    public void Each_user_is_first_in_turn(int users)
    {
        var turns = new RoomTurns(users);
        Assert.Equal(Enumerable.Range(0, 3 * users).Select(time => time % users), Enumerable.Range(0, 3 * users).Select(_ => turns.Next(2)));
    }

    /// <summary>With turns that all links share, two links that have room alternately would each serve one user only.</summary>
    [Fact]
    public void Each_link_has_turns_of_its_own()
    {
        var turns = new RoomTurns(2);
        for (int time = 0; time < 6; time++) Assert.Equal((time % 2, time % 2), (turns.Next(3), turns.Next(0)));
    }

    [Fact]
    public void Turns_of_a_link_go_on_when_another_one_with_a_higher_rank_has_room()
    {
        var turns = new RoomTurns(3);
        Assert.Equal((0, 1), (turns.Next(1), turns.Next(1)));
        Assert.Equal(0, turns.Next(500));
        Assert.Equal((2, 1), (turns.Next(1), turns.Next(500)));
    }
}
