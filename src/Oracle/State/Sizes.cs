using System.Text;
using GroupCore.Membership;
using GroupCore.Transport;

namespace Oracle.State;

/// <summary>The most bytes that each part of the state can take in the saved state, however it changes. <see cref="OracleState.Bytes"/> is their sum.</summary>
internal static class Sizes
{
    /// <summary>Numbers and headers of a saved state without processes and groups, with all past lives that it remembers.</summary>
    public const long Empty = 64 + (Number * (long)Limits.PastLives);

    // Most bytes of a number with its header, and of the header of a text or a list.
    private const int Number = 9;
    private const int Header = 5;

    // The kept views, the proposal, and one more for what waits: the queue, the leavers, the stalled processes.
    private const int Views = Limits.InstallsKept + 2;

    // A view or a proposal without its name and its members: a dozen numbers, as many headers, and the options.
    private const int Overhead = 12 * (Number + Header);

    public static int Of(ProcessId id) => Of(id.Node) + Of(id.Incarnation);

    public static long Of(ProcessRecord process) =>
        Of(process.Id) + Of(process.Address.Text) + Of(process.Tag) + Of(process.Host) + (8 * Number) + Header;

    public static long Of(OperationResult result) => (4 * Number) + Of(result.Reason) + Of(result.Process);

    public static long Of(LostGroup lost)
    {
        long bytes = (4 * Number) + Header + Of(lost.Name);
        foreach (var id in lost.Failed) bytes += Of(id);
        return bytes;
    }

    /// <summary>
    /// Bytes of a member, or of a process that waits to join: its entry in the member list, and its id once more with two ranks, in case the view also lists it as joined or
    /// moved. A view without it, which lists it as left or excluded, needs less. So no view is larger than the one before it together with all processes that waited to join.
    /// </summary>
    public static int Place(ProcessId id, NodeAddress address, string tag) => (2 * Of(id)) + Of(address.Text) + Of(tag) + 7;

    public static long Of(View view)
    {
        long bytes = 0;
        foreach (var member in view.Members) bytes += Place(member.Id, member.Address, member.Tag);
        foreach (var id in view.Left) bytes += Of(id);
        foreach (var id in view.Failed) bytes += Of(id);
        return bytes;
    }

    /// <summary>A group in which no view or proposal, kept or future, has more than <paramref name="members"/> bytes of members.</summary>
    public static long Group(string name, long members) => Views * (Overhead + Of(name) + members);

    private static int Of(string text) => Encoding.UTF8.GetByteCount(text) is var bytes && bytes < 32 ? 1 + bytes : Header + bytes;

    private static int Of(ulong number) => number switch
    {
        < 1UL << 7 => 1,
        < 1UL << 8 => 2,
        < 1UL << 16 => 3,
        <= uint.MaxValue => 5,
        _ => Number,
    };
}
