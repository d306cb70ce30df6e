using Ida.Nodes;
using Ida.Testing;
using Ida.Tests.Shared;

namespace Ida.Tests;

/// <summary>A start whose caller has gone when its time is over.</summary>
public sealed class GivenUpStartTests
{
    [Fact]
    public void A_start_that_finds_no_node_after_its_caller_has_gone_leaves_no_unobserved_error() => Unobserved.AssertNone(static (node, reason) =>
    {
        var options = new IdaNodeOptions { Cluster = reason.Message, Seeds = ["127.0.0.1:1"], StartTimeout = TimeSpan.FromMilliseconds(500) };
        return new NodeLife(node, options, new() { Seeds = [Simulation.AddressOf(7)] }).Registered;
    });
}
