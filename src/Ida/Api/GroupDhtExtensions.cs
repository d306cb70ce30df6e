using System.Runtime.CompilerServices;
using GroupCore.Basics;
using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.Wire;

namespace Ida;

/// <summary>The DHT of a group.</summary>
public static class GroupDhtExtensions
{
    private static readonly ConditionalWeakTable<Group, Task<DhtHost>> Hosts = [];
    private static readonly Lock Gate = new();

    /// <summary>The DHT as a layer. An <see cref="IdaNode"/> adds it to <see cref="GroupHostOptions.Layers"/> by itself; a <see cref="GroupHost"/> made without a node needs it there.</summary>
    internal static LayerFrames Layer => DhtFrame.Layer;

    /// <summary>
    /// Makes this member part of the group's DHT, and completes when it has its slot. The DHT begins when there is a member for
    /// every shard. Every member that is to hold keys calls this, with the same sizes and hash, and declares its maps.
    /// </summary>
    /// <param name="group">The group; this process is a member.</param>
    /// <param name="options">Sizes and bounds.</param>
    /// <param name="declare">
    /// Declares the maps: <c>d => { d.Map&lt;string, int&gt;("stock"); d.Map&lt;string, long&gt;("hits").OnMerge&lt;long&gt;((key, hits, more) => hits + more); }</c>. What all members declare can be
    /// used; calls that use anything else get <see cref="MapNotAgreedException"/>, until a view in which all declare it.
    /// </param>
    /// <param name="cancellationToken">Gives up waiting and removes this member again; when the call has ended, the DHT can be enabled anew.</param>
    /// <exception cref="DhtConfigurationException">
    /// An option or a declaration is impossible; the group is not <see cref="GroupOptions.StrictPrimary"/>; sizes or hash differ from the other members'; a map has other types, or another placement, at
    /// another member; or this member lacks a map or a resolver that the DHT already uses.
    /// </exception>
    /// <exception cref="DhtNotFoundedException">Too few members enabled it within <see cref="DhtMemberOptions.EnableTimeout"/>.</exception>
    /// <exception cref="ViewUnavailableException">This member got no slot within that time: it is not on the side of the primary partition.</exception>
    /// <exception cref="NotDhtMemberException">The process is no longer in the group (it left, was excluded, or its node has stopped), or is leaving it.</exception>
    /// <exception cref="InvalidOperationException">The DHT is enabled already at this member.</exception>
    /// <exception cref="ArgumentException"><paramref name="declare"/> is <c>async</c>.</exception>
    public static async ValueTask<Dht> EnableDhtAsync(this Group group, DhtOptions options, Action<DhtMaps> declare, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(group);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(declare);
        options.Validate();
        if (!group.CurrentView.Options.StrictPrimary)
        {
            throw new DhtConfigurationException($"The group \"{group.Name}\" is not {nameof(GroupOptions.StrictPrimary)}: two views of it may act at the same instant, " +
                "and strict reads of a DHT rest on there being one. Name the group with that option, which is the default.");
        }
        var maps = new DhtMaps();
        UserCode.NotAsync(declare, "The callback that declares maps must not be async: the DHT is enabled with what is declared when it returns.", nameof(declare))(maps);
        var command = await PostAsync(group, options, maps.Seal(options), cancellationToken).ConfigureAwait(false);
        return await TakenAsync(command, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Waits for the enabled DHT. A caller that gave up may enable again once this throws, so the DHT is closed first.</summary>
    internal static async Task<Dht> TakenAsync(EnableCommand command, CancellationToken cancellationToken)
    {
        Dht dht;
        try
        {
            dht = await command.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await CloseAsync(command.Task).ConfigureAwait(false);
            throw;
        }
        try
        {
            await dht.Serving.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await dht.CloseAsync(CancellationToken.None).ConfigureAwait(false);
            throw;
        }
        return dht;
    }

    private static async Task<EnableCommand> PostAsync(Group group, DhtOptions options, DeclaredMaps maps, CancellationToken cancellationToken)
    {
        long clockOffset = options.Member.ClockOffset(group.Protocol.Node);
        Task<DhtHost> attached;
        using (Gate.Hold())
        {
            if (!Hosts.TryGetValue(group, out attached!) || attached.IsFaulted || attached.IsCanceled)
            {
                attached = group.AttachLayerAsync(DhtFrame.Layer, static port => new DhtHost(port), CancellationToken.None).AsTask();
                // Every caller that waited for it may have gone: observe its exception.
                _ = attached.ContinueWith(static done => done.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted | TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
                Hosts.AddOrUpdate(group, attached);
            }
        }
        try
        {
            var host = await attached.WaitAsync(cancellationToken).ConfigureAwait(false);
            var command = new EnableCommand(host, options, maps, clockOffset);
            await host.Node.PostAsync(command, cancellationToken).ConfigureAwait(false);
            return command;
        }
        catch (Exception error) when (error is (NotMemberException or ExcludedException or GroupOverloadedException or NodeStoppedException) and not NodeFaultedException)
        {
            // Calls of a DHT whose group ends get the same exception.
            throw new NotDhtMemberException("This process is no longer a member of the group: " + error.Message, error);
        }
    }

    /// <summary>Closes a DHT whose caller gave up while it was being enabled; nobody else would.</summary>
    private static async Task CloseAsync(Task<Dht> enabling)
    {
        try
        {
            await (await enabling.ConfigureAwait(false)).CloseAsync().ConfigureAwait(false);
        }
        catch (Exception)
        {
            // It was not enabled, or has ended by itself: nothing is left to close, and there is no caller to tell.
        }
    }
}
