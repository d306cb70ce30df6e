namespace GroupCore.Runtime;

/// <summary>Posting to a node whose bounded command queue may be full: nothing is lost, the caller or the command waits for room.</summary>
internal static class NodePosting
{
    /// <summary>
    /// Queues a command, as soon as there is room. When the task throws the command was not taken and nobody will call it: the token
    /// fired (<see cref="OperationCanceledException"/>) or the node has stopped (<see cref="NodeStoppedException"/>).
    /// </summary>
    /// <remarks>A caller with a pooled command takes what it awaits from it before this call: the command may be done when it returns.</remarks>
    public static ValueTask PostAsync(this INode node, NodeCommand command, CancellationToken cancellationToken = default) =>
        node.TryPost(command) ? default : PostWhenRoomAsync(node, command, cancellationToken);

    /// <summary>The same where nobody waits for the call: on a node that has stopped the command is abandoned.</summary>
    public static void Post(this INode node, NodeCommand command)
    {
        if (!node.TryPost(command)) _ = PostOrAbandonAsync(node, command);
    }

    private static async ValueTask PostWhenRoomAsync(INode node, NodeCommand command, CancellationToken cancellationToken)
    {
        do await node.CommandRoom(cancellationToken).ConfigureAwait(false);
        while (!node.TryPost(command));
    }

    private static async Task PostOrAbandonAsync(INode node, NodeCommand command)
    {
        try
        {
            await PostWhenRoomAsync(node, command, CancellationToken.None).ConfigureAwait(false);
        }
        catch (NodeStoppedException stopped)
        {
            command.Abandon(stopped);
        }
    }
}
