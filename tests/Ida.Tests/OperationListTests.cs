using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Operations in the order of their arrival, which may leave from anywhere in the list.</summary>
public sealed class OperationListTests
{
    private readonly IdleOperation[] _all = [IdleOperation.Put(), IdleOperation.Put(), IdleOperation.Put()];
    private OperationList _list;

    public OperationListTests()
    {
        foreach (var one in _all) _list.Add(one);
    }

    [Fact]
    public void Operations_stand_in_the_order_of_their_arrival() => AssertHas(_all);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void An_operation_that_leaves_joins_its_neighbours_and_keeps_no_links(int index)
    {
        _list.Remove(_all[index]);
        Assert.True(_all[index] is { Previous: null, Next: null });
        AssertHas([.. _all.Where((_, i) => i != index)]);
        _list.Add(_all[index]);
        AssertHas([.. _all.Where((_, i) => i != index), _all[index]]);
    }

    [Fact]
    public void A_list_that_all_have_left_is_empty_and_serves_again()
    {
        foreach (var one in _all) _list.Remove(one);
        AssertHas();
        _list.Add(_all[1]);
        AssertHas(_all[1]);
    }

    private void AssertHas(params ClientOperation[] expected)
    {
        Assert.Equal(expected.Length, _list.Count);
        var one = _list.First;
        for (int i = 0; i < expected.Length; i++, one = one.Next)
        {
            Assert.Same(expected[i], one);
            Assert.Same(i == 0 ? null : expected[i - 1], one!.Previous);
        }
        Assert.Null(one);
    }
}
