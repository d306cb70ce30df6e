using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>What a peer's slot number stands for: frames that follow the Bind on the link belong to this view of this group.</summary>
internal sealed class Binding
{
    public GroupId Id { get; set; }

    public ulong View { get; set; }

    /// <summary>The group here, once looked up.</summary>
    public GroupProtocol? Group { get; set; }
}
