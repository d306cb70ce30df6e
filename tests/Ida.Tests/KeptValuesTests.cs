using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What entries held when a picture was taken, even if they change while it is copied.</summary>
public sealed class KeptValuesTests
{
    private readonly KeptValues _kept = new();
    private readonly Entry _entry = new([1], 5UL << 56) { Value = [10], Version = 3 };

    [Fact]
    public void An_entry_that_has_not_changed_is_in_the_picture_as_it_is()
    {
        Assert.Equal((_entry.Value, 3UL), _kept.Of(_entry));
        Assert.False(_kept.HasValue(_entry));
    }

    [Fact]
    public void The_first_change_keeps_what_there_was_and_later_ones_nothing()
    {
        byte[] before = _entry.Value!;
        Assert.True(_kept.Keep(_entry));
        (_entry.Value, _entry.Version) = ([20], 4);
        Assert.False(_kept.Keep(_entry));
        (_entry.Value, _entry.Version) = (null, 5);
        Assert.Equal((before, 3UL), _kept.Of(_entry));
        Assert.True(_kept.HasValue(_entry));
    }

    [Fact]
    public void An_absent_key_is_kept_as_absent()
    {
        (_entry.Value, _entry.Version) = (null, 0);
        Assert.True(_kept.Keep(_entry));
        (_entry.Value, _entry.Version) = ([20], 4);
        Assert.Equal((null, 0UL), _kept.Of(_entry));
        Assert.False(_kept.HasValue(_entry));
    }

    [Fact]
    public void What_is_forgotten_is_in_the_picture_as_it_is_now()
    {
        _kept.Keep(_entry);
        (_entry.Value, _entry.Version) = ([20], 4);
        _kept.Forget(_entry);
        Assert.Equal((_entry.Value, 4UL), _kept.Of(_entry));
    }

    [Fact]
    public void A_range_whose_picture_is_complete_keeps_nothing_and_the_others_all()
    {
        var other = new Entry([2], 6UL << 56) { Value = [11], Version = 7 };
        _kept.Keep(_entry);
        _kept.Keep(other);
        _kept.ForgetRange(5);
        Assert.False(_kept.HasValue(_entry));
        Assert.True(_kept.HasValue(other));
        _kept.Forget(_entry);
    }
}
