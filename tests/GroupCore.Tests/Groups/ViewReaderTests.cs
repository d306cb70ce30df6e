using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>One reader of a group's views.</summary>
public sealed class ViewReaderTests
{
    private readonly ViewReader _reader = new(bound: 3);

    [Fact]
    public void Views_are_taken_in_order_and_each_once()
    {
        for (ulong id = 1; id <= 3; id++) _reader.Add(FlatView.Of(1, id));
        _reader.Add(FlatView.Of(1, 2));
        _reader.Add(FlatView.Of(1, 3));
        Assert.Equal([1, 2, 3], Taken());
    }

    /// <summary>A slow reader wants the latest views.</summary>
    [Fact]
    public void Beyond_the_bound_the_oldest_views_go()
    {
        for (ulong id = 1; id <= 10; id++) _reader.Add(FlatView.Of(1, id));
        Assert.Equal([8, 9, 10], Taken());
    }

    [Fact]
    public void A_reader_that_has_taken_all_views_waits_for_news_and_is_woken_once()
    {
        Assert.Null(_reader.TakeWaiting());
        Assert.Null(_reader.Take(out var news));
        Assert.Null(_reader.Take(out var again));
        Assert.Same(news, again);
        _reader.Add(FlatView.Of(1));
        var waiting = _reader.TakeWaiting()!;
        Assert.Same(news, waiting.Task);
        Assert.Null(_reader.TakeWaiting());
        Assert.Equal([1], Taken());
    }

    [Fact]
    public void After_the_end_the_views_that_wait_are_taken_and_no_more_come()
    {
        _reader.Add(FlatView.Of(1, 1));
        _reader.End(null);
        _reader.Add(FlatView.Of(1, 2));
        Assert.Equal([1], Taken());
        Assert.Null(_reader.Take(out var news));
        Assert.Null(news);
    }

    [Fact]
    public void The_error_that_ended_the_group_comes_behind_the_last_view()
    {
        _reader.Add(FlatView.Of(1, 1));
        _reader.End(new InvalidOperationException("over"));
        Assert.Equal(1UL, _reader.Take(out _)!.Id);
        for (int i = 0; i < 2; i++) Assert.Equal("over", Assert.Throws<InvalidOperationException>(() => _reader.Take(out _)).Message);
    }

    private List<int> Taken()
    {
        var taken = new List<int>();
        while (_reader.Take(out _) is { } view) taken.Add((int)view.Id);
        return taken;
    }
}
