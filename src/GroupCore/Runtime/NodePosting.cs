namespace GroupCore.Runtime;

/// <summary>Posting to a node whose bounded command queue may be full.</summary>
internal static class NodePosting
{
    /// <summary><see cref="INode.PostAsync"/> for a command whose queuing nobody awaits: if the node has stopped, the command is abandoned.</summary>
    public static void Post(this INode node, NodeCommand command)
    {
        var posted = node.PostAsync(command);
        if (!posted.IsCompletedSuccessfully) _ = PostOrAbandonAsync(posted, command);
    }

    private static async Task PostOrAbandonAsync(ValueTask posted, NodeCommand command)
    {
        try
        {
            await posted.ConfigureAwait(false);
        }
        catch (NodeStoppedException stopped)
        {
            command.Abandon(stopped);
        }
    }
}
