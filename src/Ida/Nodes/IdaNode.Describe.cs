using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida;

/// <summary>What a node says about itself to a person.</summary>
public sealed partial class IdaNode
{
    /// <summary>
    /// How the node is, in lines for a person to read: its loop and links, its part in the Oracle, its groups with their views, queues and what they wait for, and DHTs. At most
    /// 64 Ki characters; of long lists the first 16. The form is not fixed: do not parse it, there are meters for that (docs/guide/operations.md).
    /// </summary>
    /// <remarks>
    /// It is written between two things that the node does, so it waits for its turn like other calls: where the loop is stuck, it does not return, and the token ends the wait.
    /// Of a node that has stopped or faulted it says only that.
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
