using GroupCore.Membership;

namespace Ida.Scenarios;

/// <summary>Views without a group, for what is computed from a view alone.</summary>
internal static class FlatView
{
    public static ProcessId Id(int rank) => new(100 + (ulong)rank, 1 + (ulong)rank);

    /// <summary>A view whose member of each rank is <see cref="Id"/>; the first <paramref name="initialised"/> of them have the state.</summary>
    public static View Of(int members, ulong id = 1, int initialised = int.MaxValue) => Of(id, [.. Enumerable.Range(0, members)], initialised);

    /// <summary>A view of these members, in the order of their ranks.</summary>
    public static View Of(ulong id, int[] members, int initialised = int.MaxValue) =>
        new(new(1, 1), "group", id, 1, new(), [.. members.Select((member, rank) => new ViewMember(Id(member), new("h"), rank < initialised, ""))], [], [], [], []);
}
