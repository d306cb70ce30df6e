namespace Ida.Testing.Checking;

/// <summary>A flush under way: what its caller had delivered and sent when it called.</summary>
public sealed class GroupFlush
{
    internal GroupFlush(GroupProcess caller) => (Caller, View, Deliveries, Delivered, Ordered, Sent) =
        (caller, caller.View, caller.Deliveries, caller.Deliveries.Order.Count, caller.Deliveries.Total.Count, caller.Sent.Count);

    internal GroupProcess Caller { get; }

    internal ulong View { get; }

    internal GroupDeliveries Deliveries { get; }

    internal int Delivered { get; }

    internal int Ordered { get; }

    internal int Sent { get; }
}
