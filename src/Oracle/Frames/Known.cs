using GroupCore.Membership;

namespace Oracle.Frames;

/// <summary>What a process knows of a group: its view, and the highest proposal that it saw.</summary>
internal readonly record struct Known(GroupId Group, ulong View, ulong Proposal);
