using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Tests.Shared;
using Oracle;

namespace GroupCore.Tests.Groups;

/// <summary>A caller whose token has fired is gone. If its call ends with an error later, that must not become an unobserved error of the process.</summary>
public sealed class GivenUpCallTests
{
    [Fact]
    public void A_join_that_fails_after_its_caller_has_gone_leaves_no_unobserved_error() => Unobserved.AssertNone(static (node, reason) =>
    {
        var host = new GroupHost(node, new OracleMember(node, new()), new() { Serializer = ContractSerializer.Instance });
        var call = new JoinCall(host, "g", new GroupOptions(), null!);
        call.Abandon(reason);
        return call.Task;
    });

    [Fact]
    public void A_layer_that_is_not_attached_after_its_caller_has_gone_leaves_no_unobserved_error() => Unobserved.AssertNone(static (node, reason) =>
    {
        var call = new LayerAttachment<IGroupLayer>(node, _ => throw reason);
        Assert.Null(call.Create(null!));
        return call.Task;
    });

    [Fact]
    public void A_command_that_waits_for_room_when_its_node_stops_leaves_no_unobserved_error() => Unobserved.AssertNone(static (node, reason) =>
    {
        while (node.TryPost(new CallCommand(static () => { })))
        {
        }
        var waiting = node.PostAsync(new CallCommand(static () => { })).AsTask();
        ((Node)node).Stop(reason);
        return waiting;
    });
}
