namespace Ida.Testing.Checking;

/// <summary>A message as its sender sent it. The view is 0 while it is not known.</summary>
internal sealed class GroupMessage(ulong id, GroupProcess sender, MulticastKind kind, int index, ulong calledIn)
{
    public ulong Id { get; } = id;

    public GroupProcess Sender { get; } = sender;

    public MulticastKind Kind { get; } = kind;

    /// <summary>Its place among all that the sender sent of its sort.</summary>
    public int Index { get; } = index;

    /// <summary>The sender's view at the call.</summary>
    public ulong CalledIn { get; } = calledIn;

    public ulong View { get; set; }

    /// <summary>The view by whose end it had left its sender, 0 while that is not known.</summary>
    public ulong GoneBy { get; set; }

    /// <summary>The call ended without success: it may be delivered or not.</summary>
    public bool Abandoned { get; set; }

    /// <summary>Sent in a membership that is over, by a process that has begun another one: its place among the later messages of the process is not judged.</summary>
    public bool IsPast { get; set; }

    /// <summary>Its sender left afterwards and was told so: it must be delivered, whatever the sender does since.</summary>
    public bool IsOwed { get; set; }

    /// <summary>A flush that was called after this message was sent has returned.</summary>
    public bool IsFlushed { get; set; }

    /// <summary>Whether its place among the messages of its sender is not judged.</summary>
    public bool IsUnbound => Abandoned || IsPast;

    /// <summary>For messages to one member: whether that member has received it.</summary>
    public bool Received { get; set; }
}
