using GroupCore.Groups.Buffers;

namespace GroupCore.Tests.Groups;

/// <summary>A slab has the bytes of many messages. It is held as long as any of them is held, and then used again.</summary>
public sealed class MessageSlabTests
{
    private readonly MessageSlabPool _pool = new();

    [Fact]
    public void The_loop_holds_a_slab_once_for_all_messages_in_it()
    {
        var slab = MessageSlab.Rent();
        Assert.True(slab.Alone);
        slab.Store(10);
        slab.Store(20);
        Assert.False(slab.Alone);
        slab.Drop(10);
        Assert.False(slab.Alone);
        slab.Drop(20);
        Assert.True(slab.Alone);
    }

    [Fact]
    public void Handlers_hold_a_slab_beside_the_loop()
    {
        var slab = MessageSlab.Rent();
        slab.Hold(2);
        slab.Release(1);
        Assert.False(slab.Alone);
        slab.Release(1);
        Assert.True(slab.Alone);
    }

    [Theory]
    [InlineData((MessageSlab.Size / 4) - 1, true)]
    [InlineData(MessageSlab.Size / 4, false)]
    public void A_slab_is_sparse_while_its_messages_take_less_than_a_quarter(int bytes, bool sparse)
    {
        var slab = MessageSlab.Rent();
        slab.Store(bytes);
        Assert.Equal(sparse, slab.IsSparse);
        slab.Drop(bytes);
        Assert.True(slab.IsSparse);
        slab.Release(1);
    }

    [Fact]
    public void A_message_larger_than_a_slab_has_one_of_its_own_which_goes_back_with_it()
    {
        var slab = _pool.Rent(MessageSlab.Size + 1);
        Assert.InRange(slab.Bytes.Length, MessageSlab.Size + 1, 2 * MessageSlab.Size);
        MessageSlab? given = slab;
        _pool.GiveBack(ref given);
        Assert.Null(given);
        Assert.Empty(slab.Bytes);
    }

    [Fact]
    public void A_slab_that_others_hold_is_not_given_back_until_they_have_released_it()
    {
        MessageSlab? slab = _pool.Rent(10);
        var same = slab;
        same.Store(10);
        _pool.GiveBack(ref slab);
        Assert.Same(same, slab);
        same.Drop(10);
        _pool.GiveBack(ref slab);
        Assert.Null(slab);
    }

    [Fact]
    public void The_slab_given_back_last_is_given_out_first_and_empty()
    {
        MessageSlab? first = _pool.Rent(10), second = _pool.Rent(10);
        var (one, two) = (first, second);
        (one.Used, two.Used) = (100, 200);
        _pool.GiveBack(ref first);
        _pool.GiveBack(ref second);
        Assert.Same(two, _pool.Rent(10));
        Assert.Same(one, _pool.Rent(10));
        Assert.Equal((0, 0), (one.Used, two.Used));
        Assert.Equal(MessageSlab.Size, one.Free);
    }

    [Fact]
    public void A_group_at_rest_has_nothing_to_give_back()
    {
        MessageSlab? none = null;
        _pool.GiveBack(ref none);
        Assert.Null(none);
    }
}
