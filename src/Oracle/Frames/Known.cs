using GroupCore.Membership;

namespace Oracle.Frames;

/// <summary>A process's knowledge of a group: its view and the highest proposal that it saw.</summary>
internal readonly record struct Known(GroupId Group, ulong View, ulong Proposal);
