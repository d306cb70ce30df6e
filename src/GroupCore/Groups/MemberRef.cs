using GroupCore.Membership;
using GroupCore.Transport;

namespace GroupCore.Groups;

/// <summary>The sender of a message: its rank in the view in which the message was delivered, and the member itself.</summary>
public readonly record struct MemberRef(int Rank, ViewMember Member)
{
    /// <summary>The process.</summary>
    public ProcessId Id => Member.Id;

    /// <summary>Where it listens.</summary>
    public NodeAddress Address => Member.Address;

    /// <summary>Its address.</summary>
    public override string ToString() => Member is null ? "-" : Member.Address.ToString();
}
