using Ida.Maps;

namespace Ida.Tests;

/// <summary>Which maps a view can use, computed from what its members declare (dht-view-change.md#only-agreed-maps-are-used).</summary>
public sealed class AgreedMapsTests
{
    private static readonly MapShape A = new("a", "k", "v", "", ["x", "y"]);
    private static readonly MapShape B = new("b", "k", "v", "", []);
    private readonly MapAgreement _maps = new();

    [Fact]
    public void What_all_members_declare_is_lacked_by_none()
    {
        for (int rank = 0; rank < 3; rank++) Hold(rank, A, B);
        Assert.Null(_maps.LackedBy("a"));
        Assert.Null(_maps.LackedBy("a", "x"));
    }

    [Fact]
    public void A_member_lacks_the_maps_and_resolvers_that_it_does_not_declare()
    {
        Hold(0, A, B);
        Hold(1, A with { Resolvers = ["y"] });
        Assert.Equal(FlatView.Id(1), _maps.LackedBy("b"));
        Assert.Equal(FlatView.Id(1), _maps.LackedBy("a", "x"));
        Assert.Null(_maps.LackedBy("a"));
        Assert.Null(_maps.LackedBy("a", "y"));
        // The first of the members that lack it.
        Assert.Equal(FlatView.Id(0), _maps.LackedBy("c"));
        Assert.Equal(FlatView.Id(0), _maps.LackedBy("c", "x"));
    }

    [Theory]
    [InlineData("key", "the map \"a\" has keys of other here and of k there")]
    [InlineData("value", "the map \"a\" has values of other here and of v there")]
    [InlineData("placement", "the keys of the map \"a\" are placed other here and by all of their bytes there")]
    public void A_member_that_declares_a_map_otherwise_than_those_before_is_told_how(string what, string said)
    {
        Assert.Null(Take(A));
        var other = what switch { "key" => A with { Key = "other" }, "value" => A with { Value = "other" }, _ => A with { Placement = "other" } };
        Assert.Equal(said, Take(other));
    }

    [Fact]
    public void Resolvers_of_a_map_may_differ_while_nothing_is_in_use()
    {
        Assert.Null(Take(A));
        Assert.Null(Take(A with { Resolvers = ["z"] }));
        Assert.Null(Take(B));
        Assert.Null(Take());
    }

    [Fact]
    public void A_member_that_lacks_what_is_in_use_is_refused()
    {
        Take(A, B);
        _maps.Settle();
        Assert.Equal("the map \"b\" is not declared here, and is in use there", Take(A));
        Assert.Equal("the map \"a\" has no resolver for y here, and one in use there", Take(A with { Resolvers = ["x"] }, B));
        Assert.Null(Take(A with { Resolvers = ["x", "y", "z"] }, B, new("c", "k", "v", "", [])));
    }

    /// <summary>Nobody can use it yet, so a new member need not have it.</summary>
    [Fact]
    public void What_only_some_members_declare_is_not_in_use()
    {
        Take(A, B);
        Take(A with { Resolvers = ["y", "z"] });
        _maps.Settle();
        Assert.Null(Take(A with { Resolvers = ["y"] }));
        Assert.NotNull(Take(A with { Resolvers = ["x", "z"] }));
    }

    [Fact]
    public void Without_members_nothing_is_in_use()
    {
        _maps.Settle();
        Assert.Null(Take());
    }

    [Fact]
    public void Declarations_of_a_member_that_is_refused_bind_no_other()
    {
        Take(A);
        Assert.NotNull(Take(A with { Key = "other" }, B));
        Assert.Null(Take(A, B with { Value = "other" }));
    }

    [Fact]
    public void Extra_maps_of_members_that_are_taken_bind_members_that_come_after_them()
    {
        Take(A);
        _maps.Settle();
        Assert.Null(Take(A, B));
        Assert.NotNull(Take(A, B with { Value = "other" }));
    }

    [Fact]
    public void Equal_declarations_are_equal_bytes()
    {
        Assert.True(MapSet.Of([A, B]).IsSame(MapSet.Of([A with { Resolvers = ["x", "y"] }, B])));
        Assert.False(MapSet.Of([A, B]).IsSame(MapSet.Of([A])));
        Assert.Equal(["a", "b"], MapSet.Read(MapSet.Of([A, B]).Bytes)!.All.Select(static map => map.Name));
        Assert.Null(MapSet.Of([A]).Find("A"));
    }

    [Fact]
    public void Declarations_have_48_KiB()
    {
        Assert.NotNull(MapSet.Of([.. Many(180)]));
        Assert.Contains("at most 49152", Assert.Throws<DhtConfigurationException>(static () => MapSet.Of([.. Many(200)])).Message, StringComparison.Ordinal);

        static IEnumerable<MapShape> Many(int count) => Enumerable.Range(0, count).Select(static i => new MapShape($"{i:000}".PadRight(250, 'n'), "k", "v", "", []));
    }

    private string? Take(params MapShape[] maps) => _maps.Take(MapSet.Of(maps));

    private void Hold(int rank, params MapShape[] maps) => _maps.Hold(FlatView.Id(rank), MapSet.Of(maps));
}
