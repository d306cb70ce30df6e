using System.Net;
using System.Net.Sockets;
using GroupCore.Basics;
using GroupCore.Runtime;
using Oracle;

namespace Ida.Nodes;

/// <summary>Host names as the system looks them up: in its hosts file, and at servers of names.</summary>
internal sealed class SystemNames : INameService
{
    /// <summary>How long an answer is waited for.</summary>
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(5);

    // A look-up that hangs cannot be ended and may hold a thread: there is one of each name at a time.
    private readonly SortedDictionary<string, Task<(IReadOnlyList<IPAddress>, string)>> _running = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();

    /// <inheritdoc/>
    public void Resolve(INode node, string host, Action<IReadOnlyList<IPAddress>, string> found)
    {
        using (ContextFlow.Stop()) _ = TellAsync(node, host, found);
    }

    /// <summary>The addresses of a name, or why there is none.</summary>
    public async Task<(IReadOnlyList<IPAddress> Addresses, string Why)> LookUpAsync(string host, CancellationToken cancellationToken)
    {
        try
        {
            return await Begin(host).WaitAsync(s_limit, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return ([], $"no answer within {s_limit.TotalSeconds} s");
        }
    }

    private Task<(IReadOnlyList<IPAddress>, string)> Begin(string host)
    {
        Task<(IReadOnlyList<IPAddress>, string)>? running;
        using (_gate.Hold())
        {
            if (!_running.TryGetValue(host, out running))
            {
                running = QueryAsync(host);
                if (!running.IsCompleted) _running.Add(host, running);
            }
        }
        return running;
    }

    private async Task<(IReadOnlyList<IPAddress>, string)> QueryAsync(string host)
    {
        try
        {
            var addresses = await Dns.GetHostAddressesAsync(host).ConfigureAwait(false);
            return (addresses, "the name stands for no address");
        }
        catch (Exception error) when (error is SocketException or ArgumentException)
        {
            return ([], error.Message);
        }
        finally
        {
            using (_gate.Hold()) _running.Remove(host);
        }
    }

    private async Task TellAsync(INode node, string host, Action<IReadOnlyList<IPAddress>, string> found)
    {
        var (addresses, why) = await LookUpAsync(host, CancellationToken.None).ConfigureAwait(false);
        node.Post(new Answer(() => found(addresses, why)));
    }

    private sealed class Answer(Action tell) : NodeCommand
    {
        public override void Run() => tell();

        public override void Abandon(Exception reason)
        {
            // The node that asked is gone.
        }
    }
}
