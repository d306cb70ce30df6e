using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida;

/// <summary>What a node says about itself to a person.</summary>
public sealed partial class IdaNode
{
    /// <summary>
    /// Describes the node in lines for a person to read: its loop and links, its part in the Oracle, its groups with their views, queues and what they wait for, and DHTs. At most
    /// 64 Ki characters, with the first 16 items of long lists. The form is not fixed: do not parse it, use the meters (docs/guide/operations.md).
    /// </summary>
    /// <remarks>
    /// It is written by the node's loop, so it waits for its turn like other calls: if the loop is stuck, it does not return, and only the token ends the wait.
    /// For a node that has stopped or faulted it says only that.
    /// </remarks>
    /// <exception cref="OperationCanceledException">The token fired.</exception>
    public async ValueTask<string> DescribeAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var life = _life;
        var command = new DescribeCommand(_options.Cluster, life);
        try
        {
            await life.Node.PostAsync(command, cancellationToken).ConfigureAwait(false);
        }
        catch (NodeStoppedException)
        {
            return command.OfOver();
        }
        return await command.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }
}
