namespace Ida.Testing.Checking;

/// <summary>Messages from one process to one other, in the order of sending.</summary>
internal sealed class GroupChannel
{
    public List<GroupMessage> Messages { get; } = [];

    /// <summary>Place of the last message received, −1 before the first.</summary>
    public int Last { get; set; } = -1;

    /// <summary>How many messages, from the first on, were checked for having been received.</summary>
    public int Checked { get; set; }

    /// <summary>How many are known to have left their sender.</summary>
    public int Gone { get; set; }

    /// <summary>All that was sent so far has left its sender.</summary>
    public void HasSent(ulong view)
    {
        for (; Gone < Messages.Count; Gone++) Messages[Gone].GoneBy = view;
    }

    /// <summary>The sender has left and was told so: what it sent before must be received.</summary>
    public void Owe()
    {
        foreach (var message in Messages) message.IsOwed |= !message.Received && !message.IsUnbound;
    }

    /// <summary>The receiver's membership is over and another began: what was under way is lost with it.</summary>
    public void AbandonRest()
    {
        foreach (var message in Messages) message.Abandoned |= !message.Received;
    }

    /// <summary>The sender's membership is over and another began.</summary>
    public void BeginAgain()
    {
        foreach (var message in Messages) message.IsPast |= !message.Received;
    }
}
