using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>The judge of nodes at rest finds each thing that a node must not keep.</summary>
public sealed class NodeAtRestTests
{
    private const ulong Own = 1, Other = 2, Dead = 3;
    private static readonly NodeAddress s_own = new("10.0.0.1:7700"), s_other = new("10.0.0.2:7700"), s_vacant = new("10.0.0.3:7700"), s_nowhere = new("10.0.0.4:7700");
    private static readonly LinkUse s_link = new(s_other, Other, 0, LinkPhase.Up, IsAskedFor: true, IsHeld: false, IsForeign: false);
    private static readonly LinkUse s_back = s_link with { Address = s_own, NodeId = Own };
    private static readonly LinkUse s_seed = new(s_vacant, 0, 0, LinkPhase.Dialling, IsAskedFor: true, IsHeld: false, IsForeign: false);
    private static readonly KeptState s_kept = new(0, 5, 1, 1, [s_link], 0, 0, 192 << 10, 64 << 10);

    [Fact]
    public void A_node_that_keeps_what_it_needs_is_right()
    {
        Assert.Null(Rest(s_kept).Excess);
        Assert.Null(WrongLink(s_link));
        Assert.Null(WrongLink(s_link, s_seed));
        Assert.Null(WrongLink(s_link, s_seed with { Phase = LinkPhase.Down }));
        Assert.Null(WrongLink(s_link with { IsAskedFor = false }));
        Assert.Null(WrongLink(s_link with { IsAskedFor = false, Phase = LinkPhase.Down }));
        // What is queued for a stranger does not count.
        Assert.Null(Rest(s_kept with { Links = [s_link with { Backlog = 100, IsForeign = true }] }).Excess);
        // Slabs may hold what a node that is gone did not acknowledge.
        Assert.Null(Rest(s_kept with { Slabs = 2 << 20, Unacknowledged = 1 << 20, Links = [s_link with { Backlog = 1 << 20, Phase = LinkPhase.Down, IsAskedFor = false }] }).Excess);
    }

    public static TheoryData<string> Excesses => ["command", "timer", "slab", "stored", "early", "call", "too much unacknowledged", "too little unacknowledged", "stranger"];

    [Theory, MemberData(nameof(Excesses))]
    public void A_node_that_keeps_too_much_is_found(string what)
    {
        var rest = what switch
        {
            "command" => Rest(s_kept with { Commands = 1 }),
            "timer" => Rest(s_kept with { Timers = 7 }),
            "slab" => Rest(s_kept with { Slabs = (192 << 10) + 1 }),
            "stored" => Rest(s_kept) with { Stored = 1 },
            "early" => Rest(s_kept) with { Early = 1 },
            "call" => Rest(s_kept with { CallBytes = -1 }),
            "too much unacknowledged" => Rest(s_kept with { Unacknowledged = 100 }),
            "too little unacknowledged" => Rest(s_kept with { Links = [s_link with { Backlog = 100 }] }),
            _ => Rest(s_kept with { Unacknowledged = 100, Links = [s_link with { Backlog = 100, IsForeign = true }] }),
        };
        Assert.NotNull(rest.Excess);
    }

    public static TheoryData<string> WrongLinks =>
    [
        "to nobody", "to one that is gone", "to one that is gone, at an address that is watched", "two", "two, the older to an address", "two to a watched address", "backlog", "backlog to a watched address",
        "down", "dialling", "held", "to an address, down",
    ];

    [Theory, MemberData(nameof(WrongLinks))]
    public void A_link_that_leads_nowhere_or_is_one_too_many_or_does_not_come_up_is_found(string what)
    {
        LinkUse[] links = what switch
        {
            "to nobody" => [s_link, s_seed with { Address = s_nowhere }],
            "to one that is gone" => [s_link, s_link with { NodeId = Dead }],
            "to one that is gone, at an address that is watched" => [s_link, s_seed with { NodeId = Dead }],
            "two" => [s_link, s_link with { IsAskedFor = false }],
            "two, the older to an address" => [s_link with { NodeId = 0, IsAskedFor = false, Phase = LinkPhase.Down }, s_link],
            "two to a watched address" => [s_link, s_seed, s_seed],
            "backlog" => [s_link with { Backlog = 5 << 10 }],
            "backlog to a watched address" => [s_link, s_seed with { Backlog = 5 << 10 }],
            "down" => [s_link with { Phase = LinkPhase.Down }],
            "dialling" => [s_link with { Phase = LinkPhase.Dialling }],
            "held" => [s_link with { IsHeld = true }],
            _ => [s_link with { NodeId = 0, Phase = LinkPhase.Down }],
        };
        Assert.NotNull(WrongLink(links));
    }

    [Theory]
    [InlineData(nameof(LinkPhase.Down))]
    [InlineData(nameof(LinkPhase.Dialling))]
    [InlineData(null)]
    public void A_link_without_another_end_is_found(string? other) =>
        Assert.NotNull(Resting(s_kept, other is null ? [] : [s_back with { Phase = Enum.Parse<LinkPhase>(other) }]).WrongLink);

    /// <summary>An earlier life of a node is another node.</summary>
    [Fact]
    public void A_link_whose_other_end_means_another_is_found() => Assert.NotNull(Resting(s_kept, [s_back with { NodeId = Dead }]).WrongLink);

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void A_connection_of_no_link_and_a_link_without_connection_are_found(int sockets) => Assert.NotNull(Rest(s_kept with { Sockets = sockets }).WrongLink);

    [Fact]
    public void Timers_of_links_that_are_not_there_are_found() => Assert.NotNull(Rest(s_kept with { LinkTimers = 4 }).WrongLink);

    [Fact]
    public void A_link_to_an_address_that_nobody_watches_is_found() =>
        Assert.NotNull((Rest(s_kept with { Sockets = 2, Links = [s_link, s_seed] }) with { Watched = [] }).WrongLink);

    // With as many sockets as the links have.
    private static string? WrongLink(params LinkUse[] links) =>
        Rest(s_kept with { Links = links, Sockets = links.Count(static link => link.Phase is LinkPhase.Up or LinkPhase.Dialling) }).WrongLink;

    private static NodeAtRest Rest(KeptState kept) => Resting(kept, [s_back]);

    private static NodeAtRest Resting(KeptState kept, LinkUse[] back)
    {
        var rest = new NodeAtRest(Own, s_own, kept) { Groups = 1, Watched = [s_vacant] };
        return rest with { Living = [rest, new(Other, s_other, s_kept with { Links = back })] };
    }
}
