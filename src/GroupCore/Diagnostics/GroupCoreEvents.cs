using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>
/// The events of <c>GroupCore</c>: each has one id, one level and one text. <c>docs/guide/operations.md</c> lists what they mean, and a test compares the two lists.
/// Nodes are named by their addresses. Nothing here is called once per message: callers watch counters, or handle a view change, the end of a link or a fault.
/// </summary>
internal static partial class GroupCoreEvents
{
    /// <summary>The name of the logger.</summary>
    public const string Category = "Ida.GroupCore";

    /// <summary>The range of its event ids.</summary>
    public const int First = 1000, Last = 1999;

    /// <summary>The one line that <see cref="LogQueue"/> itself adds.</summary>
    public static LogLine Dropped(long count) => new LogLine<long>(Category, count, static (to, count) => LinesDropped(to, count));

    public static void NodeFaulted(this NodeLog log, Exception? error)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, error), static (to, e) => NodeFaulted(to, e.error, e.node));
    }

    [LoggerMessage(1000, LogLevel.Critical, "Node {Node} ended by a fault: its protocols, or user code that they called, threw. It answers nobody any more.")]
    private static partial void NodeFaulted(ILogger logger, Exception? error, string node);

    [LoggerMessage(1001, LogLevel.Warning, "{Count} log lines were dropped, because the logger took them too slowly.")]
    private static partial void LinesDropped(ILogger logger, long count);

    public static void TurnSlow(this NodeLog log, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, milliseconds), static (to, e) => TurnSlow(to, e.node, e.milliseconds));
    }

    [LoggerMessage(1002, LogLevel.Warning, "Node {Node}: a turn took {Milliseconds} ms, and nothing else of the node ran meanwhile. Inline handlers and resolvers run in turns.")]
    private static partial void TurnSlow(ILogger logger, string node, long milliseconds);

    public static void CallersWait(this NodeLog log, int waiting)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, waiting), static (to, e) => CallersWait(to, e.node, e.waiting));
    }

    [LoggerMessage(1003, LogLevel.Warning, "Node {Node}: its queue of commands is full, and {Waiting} callers wait for room.")]
    private static partial void CallersWait(ILogger logger, string node, int waiting);

    public static void CallersGoOn(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => CallersGoOn(to, e));
    }

    [LoggerMessage(1004, LogLevel.Information, "Node {Node}: its queue of commands has room again.")]
    private static partial void CallersGoOn(ILogger logger, string node);

    public static void LinksFull(this NodeLog log, long bytes)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, bytes), static (to, e) => LinksFull(to, e.node, e.bytes));
    }

    [LoggerMessage(1005, LogLevel.Warning, "Node {Node}: its links hold {Bytes} bytes that peers have not acknowledged, the most that they may hold: bulk waits, and calls may be refused.")]
    private static partial void LinksFull(ILogger logger, string node, long bytes);

    public static void LinksHaveRoom(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => LinksHaveRoom(to, e));
    }

    [LoggerMessage(1006, LogLevel.Information, "Node {Node}: its links have room again.")]
    private static partial void LinksHaveRoom(ILogger logger, string node);

    public static void InputRefused(this NodeLog log, string reason, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, reason, count), static (to, e) => InputRefused(to, e.node, e.reason, e.count));
    }

    [LoggerMessage(1007, LogLevel.Warning, "Node {Node}: input from the network is refused ({Reason}): {Count} times in the last second. The end is logged when no input has been refused for 5 s.")]
    private static partial void InputRefused(ILogger logger, string node, string reason, long count);

    public static void InputAccepted(this NodeLog log, string reason, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, reason, count), static (to, e) => InputAccepted(to, e.node, e.reason, e.count));
    }

    [LoggerMessage(1008, LogLevel.Information, "Node {Node}: no input was refused for 5 s ({Reason}); {Count} times before.")]
    private static partial void InputAccepted(ILogger logger, string node, string reason, long count);

    public static void StepForbidden(this NodeLog log, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, count), static (to, e) => StepForbidden(to, e.node, e.count));
    }

    [LoggerMessage(1009, LogLevel.Error, "Node {Node}: {Count} steps that its protocols forbid were requested and not taken: this is a defect of the library.")]
    private static partial void StepForbidden(ILogger logger, string node, long count);

    public static void PeerConnected(this NodeLog log, string peer, string id)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, id), static (to, e) => PeerConnected(to, e.node, e.peer, e.id));
    }

    [LoggerMessage(1100, LogLevel.Information, "Node {Node}: connected to {Peer}, whose id is {Id}.")]
    private static partial void PeerConnected(ILogger logger, string node, string peer, string id);

    public static void PeerLost(this NodeLog log, string peer)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer), static (to, e) => PeerLost(to, e.node, e.peer));
    }

    [LoggerMessage(1101, LogLevel.Warning, "Node {Node}: the connection to {Peer} broke. Frames wait for the next one.")]
    private static partial void PeerLost(ILogger logger, string node, string peer);

    public static void PeerNotReached(this NodeLog log, string peer, string fault)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, fault), static (to, e) => PeerNotReached(to, e.node, e.peer, e.fault));
    }

    [LoggerMessage(1102, LogLevel.Warning, "Node {Node}: {Peer} cannot be reached: {Fault}. Logged once until it is connected.")]
    private static partial void PeerNotReached(ILogger logger, string node, string peer, string fault);

    public static void LinkOver(this NodeLog log, string peer, string fault)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, fault), static (to, e) => LinkOver(to, e.node, e.peer, e.fault));
    }

    [LoggerMessage(1103, LogLevel.Warning, "Node {Node}: the link to {Peer} is over: {Fault}.")]
    private static partial void LinkOver(ILogger logger, string node, string peer, string fault);

    public static void PeerMuted(this NodeLog log, string peer)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer), static (to, e) => PeerMuted(to, e.node, e.peer));
    }

    [LoggerMessage(1104, LogLevel.Warning, "Node {Node}: {Peer} has sent too many malformed frames: its link is ended, and if its identity is confirmed, it is refused for a minute. At most one line a second.")]
    private static partial void PeerMuted(ILogger logger, string node, string peer);

    public static void HandshakeRefused(this NodeLog log, string peer, string status)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, status), static (to, e) => HandshakeRefused(to, e.node, e.peer, e.status));
    }

    [LoggerMessage(1105, LogLevel.Warning, "Node {Node}: refused the connection of a node that listens at {Peer}: {Status}. At most one line a second.")]
    private static partial void HandshakeRefused(ILogger logger, string node, string peer, string status);

    public static void LinkChangesLeftOut(this NodeLog log, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, count), static (to, e) => LinkChangesLeftOut(to, e.node, e.count));
    }

    [LoggerMessage(1106, LogLevel.Warning, "Node {Node}: {Count} further connections came, broke or failed in the last second.")]
    private static partial void LinkChangesLeftOut(ILogger logger, string node, long count);

    public static void WireVersionDiffers(this NodeLog log, string peer, int version, int own)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, version, own), static (to, e) => WireVersionDiffers(to, e.node, e.peer, e.version, e.own));
    }

    [LoggerMessage(1107, LogLevel.Warning, "Node {Node}: {Peer} refused the connection: it speaks wire version {Version}; this node speaks version {Own}. At most one line a second.")]
    private static partial void WireVersionDiffers(ILogger logger, string node, string peer, int version, int own);

    public static void PeerUntrusted(this NodeLog log, string peer, string why)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, peer, why), static (to, e) => PeerUntrusted(to, e.node, e.peer, e.why));
    }

    [LoggerMessage(1108, LogLevel.Warning, "Node {Node}: the process at {Peer} did not show that it belongs to the cluster: {Why}. At most one line a second.")]
    private static partial void PeerUntrusted(ILogger logger, string node, string peer, string why);

    public static void Listening(this NodeLog log, string address, string accepts)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, address, accepts), static (to, e) => Listening(to, e.node, e.address, e.accepts));
    }

    [LoggerMessage(1109, LogLevel.Information, "Node {Node}: listens at {Address} and accepts {Accepts}.")]
    private static partial void Listening(ILogger logger, string node, string address, string accepts);

    public static void CredentialsFailed(this NodeLog log, string what)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, what), static (to, e) => CredentialsFailed(to, e.node, e.what));
    }

    [LoggerMessage(1110, LogLevel.Error, "Node {Node}: its own credentials cannot be used as they are now, and what was valid before is used on: {What}. At most one line a second.")]
    private static partial void CredentialsFailed(ILogger logger, string node, string what);

    public static void Joining(this NodeLog log, string group)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group), static (to, e) => Joining(to, e.node, e.group));
    }

    [LoggerMessage(1200, LogLevel.Information, "Node {Node}: asks to join group {Group}.")]
    private static partial void Joining(ILogger logger, string node, string group);

    public static void ViewInstalled(this NodeLog log, string group, ulong view, int members, int rank, string joined, string left, string excluded)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view, members, rank, joined, left, excluded), static (to, e) => ViewInstalled(to, e.node, e.group, e.view, e.members, e.rank, e.joined, e.left, e.excluded));
    }

    [LoggerMessage(1201, LogLevel.Information, "Node {Node}: group {Group} is in view {View} with {Members} members, this one at rank {Rank}. Joined: {Joined}. Left: {Left}. Excluded: {Excluded}.")]
    private static partial void ViewInstalled(ILogger logger, string node, string group, ulong view, int members, int rank, string joined, string left, string excluded);

    public static void FlushBegun(this NodeLog log, string group, ulong view, ulong proposal, int survivors, int leavers, int joiners)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view, proposal, survivors, leavers, joiners), static (to, e) => FlushBegun(to, e.node, e.group, e.view, e.proposal, e.survivors, e.leavers, e.joiners));
    }

    [LoggerMessage(1202, LogLevel.Information, "Node {Node}: group {Group} changes its view {View}, by proposal {Proposal}: {Survivors} members stay, {Leavers} leave, {Joiners} come.")]
    private static partial void FlushBegun(ILogger logger, string node, string group, ulong view, ulong proposal, int survivors, int leavers, int joiners);

    public static void FlushSlow(this NodeLog log, string group, ulong view, long seconds, string waitsFor)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view, seconds, waitsFor), static (to, e) => FlushSlow(to, e.node, e.group, e.view, e.seconds, e.waitsFor));
    }

    [LoggerMessage(1203, LogLevel.Warning, "Node {Node}: group {Group} has been changing view {View} for {Seconds} s. It waits for {WaitsFor}.")]
    private static partial void FlushSlow(ILogger logger, string node, string group, ulong view, long seconds, string waitsFor);

    public static void FlushEnded(this NodeLog log, string group, ulong view, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view, milliseconds), static (to, e) => FlushEnded(to, e.node, e.group, e.view, e.milliseconds));
    }

    [LoggerMessage(1204, LogLevel.Information, "Node {Node}: group {Group} has ended its view {View}, in {Milliseconds} ms.")]
    private static partial void FlushEnded(ILogger logger, string node, string group, ulong view, long milliseconds);

    public static void StateAwaited(this NodeLog log, string group, ulong view)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, view), static (to, e) => StateAwaited(to, e.node, e.group, e.view));
    }

    [LoggerMessage(1205, LogLevel.Information, "Node {Node}: group {Group} waits for the state, in view {View}.")]
    private static partial void StateAwaited(ILogger logger, string node, string group, ulong view);

    public static void StateLoaded(this NodeLog log, string group, long bytes, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, bytes, milliseconds), static (to, e) => StateLoaded(to, e.node, e.group, e.bytes, e.milliseconds));
    }

    [LoggerMessage(1206, LogLevel.Information, "Node {Node}: group {Group} has its state: {Bytes} bytes, sent in {Milliseconds} ms.")]
    private static partial void StateLoaded(ILogger logger, string node, string group, long bytes, long milliseconds);

    public static void GroupLeft(this NodeLog log, string group, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, reason), static (to, e) => GroupLeft(to, e.node, e.group, e.reason));
    }

    [LoggerMessage(1207, LogLevel.Information, "Node {Node}: has left group {Group}: {Reason}")]
    private static partial void GroupLeft(ILogger logger, string node, string group, string reason);

    public static void GroupLost(this NodeLog log, string group, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, reason), static (to, e) => GroupLost(to, e.node, e.group, e.reason));
    }

    [LoggerMessage(1208, LogLevel.Error, "Node {Node}: is out of group {Group} against its will: {Reason}")]
    private static partial void GroupLost(ILogger logger, string node, string group, string reason);

    public static void HandlerSlow(this NodeLog log, string group, string handler, long seconds, long waiting)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, handler, seconds, waiting), static (to, e) => HandlerSlow(to, e.node, e.group, e.handler, e.seconds, e.waiting));
    }

    [LoggerMessage(1209, LogLevel.Warning, "Node {Node}: group {Group} has been in handler {Handler} for {Seconds} s or more, and {Waiting} events wait behind it.")]
    private static partial void HandlerSlow(ILogger logger, string node, string group, string handler, long seconds, long waiting);

    public static void HandlerEnded(this NodeLog log, string group, string handler, long seconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, handler, seconds), static (to, e) => HandlerEnded(to, e.node, e.group, e.handler, e.seconds));
    }

    [LoggerMessage(1210, LogLevel.Information, "Node {Node}: group {Group} goes on after handler {Handler}, which took {Seconds} s or more.")]
    private static partial void HandlerEnded(ILogger logger, string node, string group, string handler, long seconds);

    public static void UserCodeFailed(this NodeLog log, Exception? error, string group, long count, string handler)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, error, group, count, handler), static (to, e) => UserCodeFailed(to, e.error, e.node, e.group, e.count, e.handler));
    }

    [LoggerMessage(1211, LogLevel.Error, "Node {Node}: group {Group} had {Count} errors in user code or messages without a handler in the last second; the first in {Handler}.")]
    private static partial void UserCodeFailed(ILogger logger, Exception? error, string node, string group, long count, string handler);

    public static void CallsRefused(this NodeLog log, string group, int calls, long bytes)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, calls, bytes), static (to, e) => CallsRefused(to, e.node, e.group, e.calls, e.bytes));
    }

    [LoggerMessage(1212, LogLevel.Warning, "Node {Node}: group {Group} refuses calls: {Calls} calls with {Bytes} bytes wait to be sent. The end is logged when none has been refused for 5 s.")]
    private static partial void CallsRefused(ILogger logger, string node, string group, int calls, long bytes);

    public static void CallsAccepted(this NodeLog log, string group, long count)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, count), static (to, e) => CallsAccepted(to, e.node, e.group, e.count));
    }

    [LoggerMessage(1213, LogLevel.Information, "Node {Node}: group {Group} has refused no call for 5 s; {Count} before.")]
    private static partial void CallsAccepted(ILogger logger, string node, string group, long count);

    public static void MemberSlow(this NodeLog log, string group, string member, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, member, reason), static (to, e) => MemberSlow(to, e.node, e.group, e.member, e.reason));
    }

    [LoggerMessage(1214, LogLevel.Warning, "Node {Node}: group {Group} is held up by {Member}: {Reason}.")]
    private static partial void MemberSlow(ILogger logger, string node, string group, string member, string reason);

    public static void JoinWaits(this NodeLog log, string group, long seconds, string waitsFor)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, seconds, waitsFor), static (to, e) => JoinWaits(to, e.node, e.group, e.seconds, e.waitsFor));
    }

    [LoggerMessage(1215, LogLevel.Warning, "Node {Node}: group {Group} cannot be joined yet, after {Seconds} s: it waits for {WaitsFor}.")]
    private static partial void JoinWaits(ILogger logger, string node, string group, long seconds, string waitsFor);

    public static void LayerDiffers(this NodeLog log, string group, string layer, string member, string other)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, layer, member, other), static (to, e) => LayerDiffers(to, e.node, e.group, e.layer, e.member, e.other));
    }

    [LoggerMessage(1216, LogLevel.Warning, "Node {Node}: group {Group} takes no frames of the layer {Layer} from {Member}, which has the layer {Other}.")]
    private static partial void LayerDiffers(ILogger logger, string node, string group, string layer, string member, string other);
}
