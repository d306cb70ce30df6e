using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;

namespace GroupCore.Tests.Groups;

/// <summary>What each member has acknowledged of each sender (multicast.md#only-stable-messages-are-dropped).</summary>
public sealed class AckTableTests
{
    private const int Sender = 1;
    private readonly SenderLog[] _logs = [new(), new(), new()];
    private readonly AckTable _acks;

    public AckTableTests() => _acks = new(_logs);

    [Fact]
    public void Without_an_acknowledgement_all_have_what_is_dropped_here()
    {
        Receive(5);
        Drop(3);
        for (int member = 0; member < 3; member++) Assert.Equal(3u, _acks[member, Sender]);
        Assert.Equal(3u, _acks.Stable(Sender, self: 0));
    }

    [Fact]
    public void The_first_acknowledgement_says_nothing_of_the_other_members()
    {
        Receive(5);
        Drop(3);
        _acks.At(2, Sender) = 5;
        Assert.Equal((3u, 3u, 5u), (_acks[0, Sender], _acks[1, Sender], _acks[2, Sender]));
        Assert.Equal(0u, _acks[2, 0]);
    }

    /// <summary>The sender has all that it sent and does not acknowledge it, so its entry must not hold stability back.</summary>
    [Fact]
    public void Stable_is_what_all_but_the_sender_have()
    {
        Receive(9);
        (_acks.At(0, Sender), _acks.At(2, Sender)) = (7, 4);
        Assert.Equal(4u, _acks.Stable(Sender, self: 0));
    }

    /// <summary>A sender must not drop what it has not delivered to itself.</summary>
    [Fact]
    public void The_sender_itself_counts_what_it_has_delivered()
    {
        Receive(9);
        (_acks.At(0, Sender), _acks.At(1, Sender), _acks.At(2, Sender)) = (7, 2, 4);
        Assert.Equal(2u, _acks.Stable(Sender, self: Sender));
    }

    [Fact]
    public void When_all_is_stable_and_dropped_the_row_is_given_up()
    {
        Receive(4);
        (_acks.At(0, Sender), _acks.At(2, Sender)) = (4, 4);
        _acks.Trim(self: 0);
        Assert.Equal(0u, _acks[1, Sender]);
        Drop(4);
        _acks.Trim(self: 0);
        // Without a row, each entry, the sender's too, says what is dropped.
        Assert.Equal((4u, 4u, 4u), (_acks[0, Sender], _acks[1, Sender], _acks[2, Sender]));
    }

    /// <summary>A member acknowledges once: an acknowledgement that was forgotten with the row would never come again.</summary>
    [Fact]
    public void An_acknowledgement_of_what_has_not_arrived_here_yet_is_kept()
    {
        Receive(4);
        (_acks.At(0, Sender), _acks.At(2, Sender)) = (4, 6);
        Drop(4);
        _acks.Trim(self: 0);
        Assert.Equal(6u, _acks[2, Sender]);
    }

    private void Receive(int messages)
    {
        var slab = MessageSlab.Rent();
        for (int i = 0; i < messages; i++) _logs[Sender].Append(slab, 0, 10, MessageKind.Whole, 0);
        slab.Release(1);
    }

    private void Drop(uint below)
    {
        _logs[Sender].Passed = below;
        _logs[Sender].DropBelow(below);
    }
}
