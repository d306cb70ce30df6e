using GroupCore.Membership;

namespace Ida.Scenarios;

internal sealed class ScriptedGroup(GroupId id, string name, GroupOptions options)
{
    public GroupId Id { get; } = id;

    public string Name { get; } = name;

    public GroupOptions Options { get; } = options;

    public ulong View { get; set; }

    public List<ViewMember> Members { get; } = [];

    public List<ViewMember> Queue { get; } = [];

    public List<ProcessId> Leaving { get; } = [];

    public Proposal? Pending { get; set; }

    public List<View> Installed { get; } = [];

    /// <summary>A proposal is about to be built of what has been asked for by then.</summary>
    public bool Gathering { get; set; }

    public bool Lost { get; set; }
}
