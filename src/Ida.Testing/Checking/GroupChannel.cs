namespace Ida.Testing.Checking;

/// <summary>Messages from one process to one other, in the order of sending.</summary>
internal sealed class GroupChannel
{
    public List<GroupMessage> Messages { get; } = [];

    /// <summary>Place of the last one received, −1 before the first.</summary>
    public int Last { get; set; } = -1;

    /// <summary>How many were found complete.</summary>
    public int Checked { get; set; }

    /// <summary>The membership of one end is over and another began: what was under way may be lost with it.</summary>
    public void AbandonRest()
    {
        foreach (var message in Messages)
            if (!message.Received) message.Abandoned = true;
    }
}
