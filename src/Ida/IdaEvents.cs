using GroupCore.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Ida;

/// <summary>
/// The events of <c>Ida</c>: each has one id, one level and one text. <c>docs/guide/operations.md</c> lists them with their meaning, and a test compares the two. Nodes are named by their
/// addresses.
/// </summary>
internal static partial class IdaEvents
{
    /// <summary>The name of the logger.</summary>
    public const string Category = "Ida";

    /// <summary>The range of its event ids.</summary>
    public const int First = 3000, Last = 3999;

    public static void NodeStopped(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => NodeStopped(to, e));
    }

    [LoggerMessage(3000, LogLevel.Information, "Node {Node} has stopped.")]
    private static partial void NodeStopped(ILogger logger, string node);

    public static void NodeLost(this NodeLog log, string reason, string follows)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, reason, follows), static (to, e) => NodeLost(to, e.node, e.reason, e.follows));
    }

    [LoggerMessage(3001, LogLevel.Error, "Node {Node} was lost: {Reason}. Next: {Follows}.")]
    private static partial void NodeLost(ILogger logger, string node, string reason, string follows);

    public static void NodeRejoined(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => NodeRejoined(to, e));
    }

    [LoggerMessage(3002, LogLevel.Information, "Node {Node} has begun a new life, and is registered.")]
    private static partial void NodeRejoined(ILogger logger, string node);

    public static void RejoinFailed(this NodeLog log, Exception? error)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, error), static (to, e) => RejoinFailed(to, e.error, e.node));
    }

    [LoggerMessage(3003, LogLevel.Error, "Node {Node} stops: it cannot begin a new life, or OnRejoined threw.")]
    private static partial void RejoinFailed(ILogger logger, Exception? error, string node);

    public static void DhtFounded(this NodeLog log, string group, ulong view, int shards, int members)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view, shards, members), static (to, e) => DhtFounded(to, e.node, e.group, e.view, e.shards, e.members));
    }

    [LoggerMessage(3100, LogLevel.Information, "Node {Node}: the DHT of group {Group} is founded in view {View}: {Shards} shards on {Members} members.")]
    private static partial void DhtFounded(ILogger logger, string node, string group, ulong view, int shards, int members);

    public static void SlotTaken(this NodeLog log, string group, int slot, int shard, string state)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, slot, shard, state), static (to, e) => SlotTaken(to, e.node, e.group, e.slot, e.shard, e.state));
    }

    [LoggerMessage(3101, LogLevel.Information, "Node {Node}: the DHT of group {Group} has this member in slot {Slot} of shard {Shard}, {State}.")]
    private static partial void SlotTaken(ILogger logger, string node, string group, int slot, int shard, string state);

    public static void TransferBegun(this NodeLog log, string group, string source, int shard)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, source, shard), static (to, e) => TransferBegun(to, e.node, e.group, e.source, e.shard));
    }

    [LoggerMessage(3102, LogLevel.Information, "Node {Node}: the DHT of group {Group} asks {Source} for the state of shard {Shard}.")]
    private static partial void TransferBegun(ILogger logger, string node, string group, string source, int shard);

    public static void TransferEnded(this NodeLog log, string group, int shard, long bytes, int entries, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, shard, bytes, entries, milliseconds), static (to, e) => TransferEnded(to, e.node, e.group, e.shard, e.bytes, e.entries, e.milliseconds));
    }

    [LoggerMessage(3103, LogLevel.Information, "Node {Node}: the DHT of group {Group} has the state of shard {Shard}: {Bytes} bytes, {Entries} keys, in {Milliseconds} ms.")]
    private static partial void TransferEnded(ILogger logger, string node, string group, int shard, long bytes, int entries, long milliseconds);

    public static void ShardDepopulated(this NodeLog log, string group, int shard)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, shard), static (to, e) => ShardDepopulated(to, e.node, e.group, e.shard));
    }

    [LoggerMessage(3104, LogLevel.Critical, "Node {Node}: the DHT of group {Group} is over: no member is left that has the state of shard {Shard}. Its keys are lost.")]
    private static partial void ShardDepopulated(ILogger logger, string node, string group, int shard);

    public static void DhtOver(this NodeLog log, string group, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, reason), static (to, e) => DhtOver(to, e.node, e.group, e.reason));
    }

    [LoggerMessage(3105, LogLevel.Information, "Node {Node}: the DHT of group {Group} is over at this member: {Reason}")]
    private static partial void DhtOver(ILogger logger, string node, string group, string reason);

    public static void TakenOver(this NodeLog log, string group, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, count), static (to, e) => TakenOver(to, e.node, e.group, e.count));
    }

    [LoggerMessage(3106, LogLevel.Warning, "Node {Node}: the DHT of group {Group} took over {Count} operations in the last second that their members no longer drove.")]
    private static partial void TakenOver(ILogger logger, string node, string group, long count);

    public static void OperationsRefused(this NodeLog log, string group, int inFlight, int waiting)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, inFlight, waiting), static (to, e) => OperationsRefused(to, e.node, e.group, e.inFlight, e.waiting));
    }

    [LoggerMessage(3107, LogLevel.Warning, "Node {Node}: the DHT of group {Group} refuses operations: {InFlight} are in flight at this member and {Waiting} wait. The end is logged when none has been refused for 5 s.")]
    private static partial void OperationsRefused(ILogger logger, string node, string group, int inFlight, int waiting);

    public static void OperationsAccepted(this NodeLog log, string group, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, count), static (to, e) => OperationsAccepted(to, e.node, e.group, e.count));
    }

    [LoggerMessage(3108, LogLevel.Information, "Node {Node}: the DHT of group {Group} has refused no operation for 5 s; {Count} before.")]
    private static partial void OperationsAccepted(ILogger logger, string node, string group, long count);

    public static void ResolverSlow(this NodeLog log, string group, string? map, int count, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, map, count, milliseconds), static (to, e) => ResolverSlow(to, e.node, e.group, e.map, e.count, e.milliseconds));
    }

    [LoggerMessage(3109, LogLevel.Warning, "Node {Node}: resolvers held up the DHT of group {Group}: in the last second {Count} calls took 50 ms or more each, the longest {Milliseconds} ms, for map {Map}. They run in turns, at each replica of a shard.")]
    private static partial void ResolverSlow(ILogger logger, string node, string group, string? map, int count, long milliseconds);

    public static void TransferSlow(this NodeLog log, string group, long seconds, int shard, long bytes)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, seconds, shard, bytes), static (to, e) => TransferSlow(to, e.node, e.group, e.seconds, e.shard, e.bytes));
    }

    [LoggerMessage(3110, LogLevel.Warning, "Node {Node}: the DHT of group {Group} has waited {Seconds} s for the state of shard {Shard}; {Bytes} bytes are here.")]
    private static partial void TransferSlow(ILogger logger, string node, string group, long seconds, int shard, long bytes);
}
