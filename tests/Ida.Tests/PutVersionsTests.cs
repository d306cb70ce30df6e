namespace Ida.Tests;

/// <summary>The versions that a put gave: a few lie in the value itself, more in an array, and nobody can tell the difference.</summary>
public sealed class PutVersionsTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(PutVersions.Inline)]
    [InlineData(PutVersions.Inline + 1)]
    [InlineData(100)]
    public void Versions_are_read_in_order_and_equal_ones_are_equal(int count)
    {
        ulong[] versions = [.. Enumerable.Range(0, count).Select(static i => 7 * (ulong)i)];
        PutVersions one = new(versions), other = new(versions);
        Assert.Equal(versions, one);
        Assert.Equal(count, one.Count);
        for (int i = 0; i < count; i++) Assert.Equal(versions[i], one[i]);
        Assert.True(one == other && one.Equals((object)other) && one.GetHashCode() == other.GetHashCode());
        Assert.Throws<ArgumentOutOfRangeException>(() => one[count]);
        Assert.Throws<ArgumentOutOfRangeException>(() => one[-1]);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(PutVersions.Inline)]
    [InlineData(PutVersions.Inline + 1)]
    public void One_version_more_or_another_one_makes_a_difference(int count)
    {
        ulong[] versions = new ulong[count];
        var one = new PutVersions(versions);
        Assert.True(one != new PutVersions(new ulong[count + 1]));
        versions[^1] = 1;
        Assert.False(one == new PutVersions(versions));
        Assert.False(one.Equals("7"));
    }

    [Fact]
    public void What_becomes_of_the_numbers_it_was_made_of_does_not_matter()
    {
        ulong[] versions = new ulong[10];
        var one = new PutVersions(versions);
        versions[3] = 7;
        Assert.Equal(0UL, one[3]);
    }
}
