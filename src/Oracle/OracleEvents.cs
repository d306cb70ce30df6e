using GroupCore.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Oracle;

/// <summary>
/// The events of <c>Oracle</c>: each has one id, one level and one text. <c>docs/guide/operations.md</c> lists them with their meaning, and a test compares the two. Nodes are
/// named by their addresses.
/// </summary>
internal static partial class OracleEvents
{
    /// <summary>The name of the logger.</summary>
    public const string Category = "Ida.Oracle";

    /// <summary>The range of its event ids.</summary>
    public const int First = 2000, Last = 2999;

    public static void Registered(this NodeLog log, string process, string system)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, process, system), static (to, e) => Registered(to, e.node, e.process, e.system));
    }

    [LoggerMessage(2000, LogLevel.Information, "Node {Node} is registered as process {Process} of system {System}.")]
    private static partial void Registered(ILogger logger, string node, string process, string system);

    public static void ContactLost(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => ContactLost(to, e));
    }

    [LoggerMessage(2001, LogLevel.Warning, "Node {Node} has lost contact with the Oracle: it is blocked, and calls in its groups wait. Without contact for the exclusion time-out it counts itself as excluded.")]
    private static partial void ContactLost(ILogger logger, string node);

    public static void ContactBack(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => ContactBack(to, e));
    }

    [LoggerMessage(2002, LogLevel.Information, "Node {Node} has contact with the Oracle again.")]
    private static partial void ContactBack(ILogger logger, string node);

    public static void Excluded(this NodeLog log, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, reason), static (to, e) => Excluded(to, e.node, e.reason));
    }

    [LoggerMessage(2003, LogLevel.Error, "Node {Node} is excluded: {Reason}. This life of it is over.")]
    private static partial void Excluded(ILogger logger, string node, string reason);

    public static void Departed(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => Departed(to, e));
    }

    [LoggerMessage(2004, LogLevel.Information, "Node {Node} has left the system.")]
    private static partial void Departed(ILogger logger, string node);

    public static void Notice(this NodeLog log, string notice)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, notice), static (to, e) => Notice(to, e.node, e.notice));
    }

    [LoggerMessage(2005, LogLevel.Warning, "Node {Node}: {Notice}.")]
    private static partial void Notice(ILogger logger, string node, string notice);

    public static void Suspects(this NodeLog log, string process, string address, string evidence)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, process, address, evidence), static (to, e) => Suspects(to, e.node, e.process, e.address, e.evidence));
    }

    [LoggerMessage(2006, LogLevel.Warning, "Node {Node}: suspects process {Process} at {Address}: {Evidence}. The leader of the Oracle decides.")]
    private static partial void Suspects(ILogger logger, string node, string process, string address, string evidence);

    public static void SuspicionWithdrawn(this NodeLog log, string process, string address)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, process, address), static (to, e) => SuspicionWithdrawn(to, e.node, e.process, e.address));
    }

    [LoggerMessage(2007, LogLevel.Information, "Node {Node}: no longer suspects process {Process} at {Address}.")]
    private static partial void SuspicionWithdrawn(ILogger logger, string node, string process, string address);

    public static void ProcessExcluded(this NodeLog log, string process, string address)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, process, address), static (to, e) => ProcessExcluded(to, e.node, e.process, e.address));
    }

    [LoggerMessage(2008, LogLevel.Warning, "Node {Node}: process {Process} at {Address} is excluded: views go on without it.")]
    private static partial void ProcessExcluded(ILogger logger, string node, string process, string address);

    public static void LeaderElected(this NodeLog log, ulong term)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, term), static (to, e) => LeaderElected(to, e.node, e.term));
    }

    [LoggerMessage(2009, LogLevel.Information, "Node {Node}: leads the Oracle, in term {Term}.")]
    private static partial void LeaderElected(ILogger logger, string node, ulong term);

    public static void LeadEnded(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => LeadEnded(to, e));
    }

    [LoggerMessage(2010, LogLevel.Information, "Node {Node}: leads the Oracle no longer.")]
    private static partial void LeadEnded(ILogger logger, string node);

    public static void LeaderKnown(this NodeLog log, string leader)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, leader), static (to, e) => LeaderKnown(to, e.node, e.leader));
    }

    [LoggerMessage(2011, LogLevel.Information, "Node {Node}: the Oracle is led by {Leader}.")]
    private static partial void LeaderKnown(ILogger logger, string node, string leader);

    public static void LeaderUnknown(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => LeaderUnknown(to, e));
    }

    [LoggerMessage(2012, LogLevel.Warning, "Node {Node}: knows no leader of the Oracle.")]
    private static partial void LeaderUnknown(ILogger logger, string node);

    public static void LeaseLost(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => LeaseLost(to, e));
    }

    [LoggerMessage(2013, LogLevel.Warning, "Node {Node}: holds no lease: groups that are StrictPrimary answer nothing until it has one.")]
    private static partial void LeaseLost(ILogger logger, string node);

    public static void LeaseBack(this NodeLog log)
    {
        if (log.IsOn) log.Add(Category, log.Name, static (to, e) => LeaseBack(to, e));
    }

    [LoggerMessage(2014, LogLevel.Information, "Node {Node}: holds a lease again.")]
    private static partial void LeaseBack(ILogger logger, string node);

    public static void LoopLate(this NodeLog log, long milliseconds)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, milliseconds), static (to, e) => LoopLate(to, e.node, e.milliseconds));
    }

    [LoggerMessage(2015, LogLevel.Warning, "Node {Node}: its loop ran {Milliseconds} ms late: a turn took long, or the process or its machine was held up.")]
    private static partial void LoopLate(ILogger logger, string node, long milliseconds);

    public static void JoinRefused(this NodeLog log, string group, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, group, reason), static (to, e) => JoinRefused(to, e.node, e.group, e.reason));
    }

    [LoggerMessage(2016, LogLevel.Warning, "Node {Node}: may not join group {Group}: {Reason}")]
    private static partial void JoinRefused(ILogger logger, string node, string group, string reason);

    public static void VotersChanged(this NodeLog log, string voters)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, voters), static (to, e) => VotersChanged(to, e.node, e.voters));
    }

    [LoggerMessage(2017, LogLevel.Information, "Node {Node}: the voters of the Oracle are {Voters}.")]
    private static partial void VotersChanged(ILogger logger, string node, string voters);

    public static void JoinDenied(this NodeLog log, string process, string identity, string group, string reason)
    {
        if (log.IsOn) log.Add(Category, (node: log.Name, process, identity, group, reason), static (to, e) => JoinDenied(to, e.node, e.process, e.identity, e.group, e.reason));
    }

    [LoggerMessage(2018, LogLevel.Warning, "Node {Node}, which leads the Oracle: process {Process}, which is '{Identity}', may not join group {Group}: {Reason}.")]
    private static partial void JoinDenied(ILogger logger, string node, string process, string identity, string group, string reason);
}
