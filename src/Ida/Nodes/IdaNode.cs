using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using Ida.Nodes;

namespace Ida;

/// <summary>
/// A process's place in a cluster: one loop, which two threads share, with its links, the embedded part of the Oracle, and the groups that were joined.
/// </summary>
/// <remarks>
/// A node lives from registration until it is stopped, excluded from the primary partition, or ended by a fault (its protocols, or user
/// code that they called, threw). However it ends, every call that waits for it ends too, and its sockets are closed.
/// Under <see cref="ExclusionPolicy.Rejoin"/> it then begins a new life with a new id and empty state at the same address.
/// Source: oracle.md#without-contact-a-process-blocks-then-ends, #only-seeds-found-the-earlier-first; decision 0004.
/// </remarks>
public sealed partial class IdaNode : IAsyncDisposable
{
    /// <summary>Exit code of the process when it was excluded and <see cref="IdaNodeOptions.OnExcluded"/> is <see cref="ExclusionPolicy.Exit"/>.</summary>
    public const int ExcludedExitCode = 70;

    /// <summary>Exit code of the process after a fault where <see cref="IdaNodeOptions.OnFault"/> is <see cref="ExclusionPolicy.Exit"/>.</summary>
    public const int FaultedExitCode = 71;

    private readonly IdaNodeOptions _options;
    private readonly ILifeHost _host;
    private readonly LogQueue? _log;
    private readonly CancellationTokenSource _stopping = new();
    private readonly SharedCompletion _completion = new();
    private readonly Lock _gate = new();
    private readonly CancellationToken _untilStopped;
    private volatile NodeLife _life = null!;
    private volatile bool _stopped;

    private IdaNode(IdaNodeOptions options, ILifeHost host)
    {
        (_options, _host, _untilStopped) = (options, host, _stopping.Token);
        if (options.LoggerFactory is { } factory) _log = new(factory);
    }

    /// <summary>Where other nodes reach this node: <see cref="IdaNodeOptions.Advertise"/>, else where it listens, which of all addresses is one.</summary>
    public NodeAddress Address => _life.Node.Links.Local;

    /// <summary>The id of this node in its current life.</summary>
    public ProcessId Id => _life.Oracle.Self;

    /// <summary>The node's state in the primary partition; <see cref="MembershipState.Stopped"/> or <see cref="MembershipState.Faulted"/> when its life has ended.</summary>
    public MembershipState State => _life.State;

    /// <summary>The system in which it is registered.</summary>
    internal Oracle.SystemId System => _life.Oracle.System;

    /// <summary>The groups it is in or joins.</summary>
    internal IReadOnlyList<GroupProtocol> Groups => _life.Groups.Groups;

    /// <summary>Where the Oracle's voters are, as far as this node knows.</summary>
    internal IReadOnlyList<string> Voters => [.. _life.Oracle.Voters.Select(static voter => voter.Address.Text)];

    /// <summary>Counts of refused input in its current life.</summary>
    public NodeCounters Counters => _life.Node.Counters;

    /// <summary>
    /// Ends when the node has stopped and its sockets are closed. Unless the node rejoins, it faults with <see cref="ExcludedException"/> when the node was excluded, or with
    /// <see cref="NodeFaultedException"/> when a fault ended the node, or came while it was being stopped or was excluded; or it faults with the error that kept the node from rejoining.
    /// </summary>
    public Task Completion => _completion.Task;

    /// <summary>Starts a node and waits until the cluster has registered it.</summary>
    /// <exception cref="ArgumentException">An option is wrong; the message names it and what is allowed.</exception>
    /// <exception cref="InsecureBindException">The listen address is beyond the loopback, and there are no credentials.</exception>
    /// <exception cref="CredentialsException">The credentials cannot be used.</exception>
    /// <exception cref="AddressInUseException">The address of <see cref="IdaNodeOptions.Listen"/> is taken.</exception>
    /// <exception cref="WrongClusterException">All seeds belong to a cluster of another name; thrown as soon as they have answered.</exception>
    /// <exception cref="ClusterUnreachableException">No node of the cluster answered within <see cref="IdaNodeOptions.StartTimeout"/>.</exception>
    public static ValueTask<IdaNode> StartAsync(IdaNodeOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return HostAsync(options, new LoopLifeHost(options), cancellationToken);
    }

    /// <summary>Joins a group, creating it when there is none of that name, and waits for the first view with this node in it.</summary>
    /// <param name="name">Name of the group, 1–128 bytes of UTF-8.</param>
    /// <param name="configure">Registers handlers, views and checkpoint; called before the join, so that nothing is missed.</param>
    /// <param name="options">What all members share; the first to name the group decides.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    public ValueTask<Group> JoinAsync(string name, Action<GroupBuilder>? configure = null, GroupOptions? options = null, CancellationToken cancellationToken = default) =>
        _life.Groups.JoinAsync(name, configure ?? (static _ => { }), options, cancellationToken);

    /// <summary>
    /// Leaves all groups and the cluster, and stops. First its DHTs hand over (<see cref="DhtMemberOptions.HandoverTimeout"/>) and queued frames are
    /// sent; this takes at most 5 s beyond the hand-over, whatever loggers and listeners do.
    /// </summary>
    public ValueTask DisposeAsync() => StopAsync(goodbye: true, null);

    internal static async ValueTask<IdaNode> HostAsync(IdaNodeOptions options, ILifeHost host, CancellationToken cancellationToken)
    {
        var node = new IdaNode(options, host);
        try
        {
            var spent = await host.PrepareAsync(cancellationToken).ConfigureAwait(false);
            node.BeginLife(spent);
            await node._life.Registered.WaitAsync(cancellationToken).ConfigureAwait(false);
            if (host.IsMeasured) await Publication.WaitAsync(host).ConfigureAwait(false);
        }
        catch
        {
            await node.EndLifeAsync().ConfigureAwait(false);
            throw;
        }
        using (ContextFlow.Stop()) _ = node.FollowAsync();
        return node;
    }

    private async ValueTask StopAsync(bool goodbye, Exception? fault)
    {
        bool first;
        using (_gate.Hold()) (first, _stopped) = (!_stopped, true);
        if (!first)
        {
            await _completion.WaitAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return;
        }
        _ = CancelAsync(_stopping);
        try
        {
            if (goodbye) await _life.DepartAsync().ConfigureAwait(false);
            await EndLifeAsync().ConfigureAwait(false);
        }
        finally
        {
            // A fault on the way out counts too, and takes precedence over the exclusion that began it.
            if (fault is null or ExcludedException) fault = _life.Fault ?? _host.Fault ?? fault;
            var node = _life.Node;
            // If the log was told that this life is lost and a new one follows, the stop came in between: tell it that too.
            if (fault is null || (goodbye && !_life.TellLost(fault, "the node stops, as it was asked to"))) node.Log.NodeStopped();
            // On another thread: code that awaits the end may block in its continuation, and the caller of this method waits too.
            node.Resume(new ActionCompletion(() => _completion.TrySet(node, fault)));
        }
        await _completion.WaitAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}
