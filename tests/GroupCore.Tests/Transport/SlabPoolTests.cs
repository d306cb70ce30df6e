using GroupCore.Transport;

namespace GroupCore.Tests.Transport;

/// <summary>Slabs of one loop in four sizes.</summary>
public sealed class SlabPoolTests
{
    private readonly SlabPool _pool = new();

    [Theory]
    [InlineData(1, 16 << 10)]
    [InlineData(16 << 10, 16 << 10)]
    [InlineData((16 << 10) + 1, SlabPool.SmallBytes)]
    [InlineData(SlabPool.SmallBytes + 1, SlabPool.MediumBytes)]
    [InlineData(SlabPool.MediumBytes + 1, LinkLimits.FrameBytes)]
    [InlineData(LinkLimits.FrameBytes, LinkLimits.FrameBytes)]
    public void A_slab_is_of_the_smallest_size_that_is_enough(int asked, int got)
    {
        Assert.Equal(got, _pool.Rent(asked).Bytes.Length);
        Assert.Equal(got, _pool.RentedBytes);
    }

    [Fact]
    public void No_slab_is_larger_than_a_frame() => Assert.Throws<ArgumentOutOfRangeException>(() => _pool.Rent(LinkLimits.FrameBytes + 1));

    [Fact]
    public void A_slab_that_all_have_let_go_of_serves_again_under_its_number()
    {
        var slab = _pool.Rent(100);
        slab.AddReference();
        Assert.False(slab.IsHeldOnce);
        slab.Release();
        Assert.True(slab.IsHeldOnce);
        Assert.NotSame(slab, _pool.Rent(100));
        slab.Release();
        Assert.Same(slab, _pool.Rent(100));
        Assert.True(slab.IsHeldOnce);
    }

    [Fact]
    public void No_two_slabs_have_one_number() =>
        Assert.Equal(8, new[] { 1, 1, 20_000, 20_000, 100_000, 100_000, 1_000_000, 1_000_000 }.Select(size => _pool.Rent(size).Number).Distinct().Count());

    /// <summary>The rest goes back to the runtime: a burst to many should not stay for ever.</summary>
    [Fact]
    public void Sixteen_MiB_of_a_size_are_kept()
    {
        var slabs = Enumerable.Range(0, 20).Select(_ => _pool.Rent(LinkLimits.FrameBytes)).ToList();
        foreach (var slab in slabs) slab.Release();
        Assert.Equal(0, _pool.RentedBytes);
        Assert.Equal(16, Enumerable.Range(0, 20).Count(_ => slabs.Contains(_pool.Rent(LinkLimits.FrameBytes))));
    }
}
