using System.Text;
using System.Text.Unicode;
using GroupCore.Membership;
using GroupCore.Transport;
using GroupCore.Wire.MessagePack;
using Oracle.Frames;

namespace Oracle;

/// <summary>
/// Encodings of membership's types. Reading throws <see cref="InvalidDataException"/> on anything malformed; <see cref="FrameCodec"/>, which reads
/// each frame, catches it.
/// </summary>
internal static class WireFormat
{
    /// <summary>Reads an array header of items of <paramref name="width"/> values each and checks it against the bound.</summary>
    public static int ReadCount(ref MessagePackReader reader, int max, int width = 1)
    {
        int values = reader.ReadArrayHeader();
        if (values % width != 0 || values / width > max) throw new InvalidDataException($"A list of {values / width} items; at most {max} are allowed.");
        return values / width;
    }

    public static string ReadText(ref MessagePackReader reader, int maxBytes)
    {
        // Text that is not UTF-8 would be longer when written again, and would then be refused.
        if (!reader.TryReadUtf8(out var utf8) || utf8.Length > maxBytes || !Utf8.IsValid(utf8)) throw new InvalidDataException($"Not UTF-8 text of at most {maxBytes} bytes.");
        return Encoding.UTF8.GetString(utf8);
    }

    /// <summary>
    /// A term or an index of the log. The bound is far above what any log reaches, and far enough below the maximum that counting on from it does not wrap around.
    /// </summary>
    public static ulong ReadPlace(ref MessagePackReader reader) => (ulong)reader.ReadWithin(0, 1L << 62);

    public static T ReadEnum<T>(ref MessagePackReader reader, int count) where T : struct, Enum
    {
        int value = (int)reader.ReadWithin(0, count - 1);
        return (T)Enum.ToObject(typeof(T), value);
    }

    public static void Write(ref MessagePackWriter writer, ProcessId id)
    {
        writer.WriteUInt(id.Node);
        writer.WriteUInt(id.Incarnation);
    }

    public static ProcessId ReadProcess(ref MessagePackReader reader) => new(reader.ReadUInt64(), reader.ReadUInt64());

    public static void Write(ref MessagePackWriter writer, GroupId id)
    {
        writer.WriteUInt(id.Number);
        writer.WriteUInt(id.Incarnation);
    }

    public static GroupId ReadGroup(ref MessagePackReader reader) =>
        new((uint)reader.ReadWithin(0, uint.MaxValue), (uint)reader.ReadWithin(0, uint.MaxValue));

    public static void Write(ref MessagePackWriter writer, IReadOnlyList<ProcessId> ids)
    {
        writer.WriteArrayHeader(ids.Count * 2);
        foreach (var id in ids) Write(ref writer, id);
    }

    public static List<ProcessId> ReadProcesses(ref MessagePackReader reader, int max = Limits.GroupMembers)
    {
        int count = ReadCount(ref reader, max, 2);
        var ids = new List<ProcessId>(count);
        for (int i = 0; i < count; i++) ids.Add(ReadProcess(ref reader));
        return ids;
    }

    public static void Write(ref MessagePackWriter writer, NodeAddress address) => writer.WriteString(address.Text);

    /// <summary>An address that can be dialled; any other is refused here and need not be checked later.</summary>
    public static NodeAddress ReadAddress(ref MessagePackReader reader)
    {
        string text = ReadText(ref reader, Limits.AddressBytes);
        return EndPointText.TryParseReachable(text, out _) ? new(text) : throw new InvalidDataException("No address that can be dialled.");
    }

    public static void Write(ref MessagePackWriter writer, in Replica replica)
    {
        writer.WriteUInt(replica.Node);
        writer.WriteString(replica.Address.Text);
    }

    public static Replica ReadReplica(ref MessagePackReader reader) => new(ReadNode(ref reader), ReadAddress(ref reader));

    /// <summary>The id of a node that is registered, or may be a replica; 0, which stands for none, is refused.</summary>
    public static ulong ReadNode(ref MessagePackReader reader) =>
        reader.ReadUInt64() is var node and not 0 ? node : throw new InvalidDataException("A process or a replica without a node.");

    /// <summary>A leader; node 0 and no address stand for an unknown leader.</summary>
    public static Replica ReadLeader(ref MessagePackReader reader)
    {
        ulong node = reader.ReadUInt64();
        if (node != 0) return new(node, ReadAddress(ref reader));
        if (ReadText(ref reader, 0).Length > 0) throw new InvalidDataException("An address without a node.");
        return default;
    }

    /// <summary>Refuses a list that names one process twice.</summary>
    public static void Distinct(IEnumerable<ProcessId> ids)
    {
        var seen = new HashSet<ProcessId>();
        foreach (var id in ids)
            if (!seen.Add(id)) throw new InvalidDataException($"Process {id} is named twice.");
    }

    public static void Write(ref MessagePackWriter writer, GroupOptions options)
    {
        writer.WriteArrayHeader(4);
        writer.WriteInt((int)options.Composition);
        writer.WriteBoolean(options.StrictPrimary);
        writer.WriteInt((int)options.SlowMember);
        writer.WriteInt((long)options.SlowMemberTimeout.TotalMilliseconds);
    }

    public static GroupOptions ReadOptions(ref MessagePackReader reader)
    {
        int count = reader.ReadArrayHeader();
        if (count < 4) throw new InvalidDataException("Group options with fewer than 4 fields.");
        var options = new GroupOptions
        {
            Composition = ReadEnum<Composition>(ref reader, 2),
            StrictPrimary = reader.ReadBoolean(),
            SlowMember = ReadEnum<SlowMember>(ref reader, 2),
            SlowMemberTimeout = TimeSpan.FromMilliseconds(reader.ReadWithin(0, int.MaxValue)),
        };
        for (int i = 4; i < count; i++) reader.Skip();
        return options;
    }

    public static void Write(ref MessagePackWriter writer, IReadOnlyList<ViewMember> members)
    {
        writer.WriteArrayHeader(members.Count * 5);
        foreach (var member in members)
        {
            Write(ref writer, member.Id);
            Write(ref writer, member.Address);
            writer.WriteBoolean(member.Initialised);
            writer.WriteString(member.Tag);
        }
    }

    public static List<ViewMember> ReadMembers(ref MessagePackReader reader)
    {
        int count = ReadCount(ref reader, Limits.GroupMembers, 5);
        var members = new List<ViewMember>(count);
        for (int i = 0; i < count; i++)
            members.Add(new(ReadProcess(ref reader), ReadAddress(ref reader), reader.ReadBoolean(), ReadText(ref reader, Limits.TagBytes)));
        return members;
    }

    public static void Write(ref MessagePackWriter writer, View view)
    {
        Write(ref writer, view.Group);
        writer.WriteString(view.Name);
        writer.WriteUInt(view.Id);
        writer.WriteUInt(view.Proposal);
        Write(ref writer, view.Options);
        Write(ref writer, view.Members);
        Write(ref writer, view.Joined);
        Write(ref writer, view.Left);
        Write(ref writer, view.Failed);
        writer.WriteArrayHeader(view.Moved.Count * 4);
        foreach (var move in view.Moved)
        {
            Write(ref writer, move.Member);
            writer.WriteInt(move.OldRank);
            writer.WriteInt(move.NewRank);
        }
    }

    /// <summary>Number of values written for a <see cref="View"/>.</summary>
    public const int ViewFields = 11;

    public static View ReadView(ref MessagePackReader reader)
    {
        GroupId group = ReadGroup(ref reader);
        string name = ReadText(ref reader, Limits.NameBytes);
        (ulong id, ulong proposal) = (reader.ReadUInt64(), reader.ReadUInt64());
        GroupOptions options = ReadOptions(ref reader);
        var members = ReadMembers(ref reader);
        var (joined, left, failed) = (ReadProcesses(ref reader), ReadProcesses(ref reader), ReadProcesses(ref reader));
        int count = ReadCount(ref reader, Limits.GroupMembers, 4);
        var moved = new List<Move>(count);
        for (int i = 0; i < count; i++)
            moved.Add(new(ReadProcess(ref reader), (int)reader.ReadWithin(0, Limits.GroupMembers), (int)reader.ReadWithin(0, Limits.GroupMembers)));
        var view = new View(group, name, id, proposal, options, members, joined, left, failed, moved);
        return IsConsistent(view) ? view : throw new InvalidDataException("A view that contradicts itself.");
    }

    /// <summary>Number of values written for a <see cref="Proposal"/>.</summary>
    public const int ProposalFields = 7;

    public static void Write(ref MessagePackWriter writer, Proposal proposal)
    {
        Write(ref writer, proposal.Group);
        writer.WriteUInt(proposal.Number);
        writer.WriteUInt(proposal.BaseView);
        Write(ref writer, proposal.Survivors);
        Write(ref writer, proposal.Leavers);
        Write(ref writer, proposal.Joiners);
    }

    public static Proposal ReadProposal(ref MessagePackReader reader)
    {
        var proposal = new Proposal(ReadGroup(ref reader), reader.ReadUInt64(), reader.ReadUInt64(), ReadProcesses(ref reader), ReadProcesses(ref reader), ReadMembers(ref reader));
        Distinct(proposal.Survivors.Concat(proposal.Leavers).Concat(proposal.Joiners.Select(joiner => joiner.Id)));
        return proposal;
    }

    private static bool IsConsistent(View view)
    {
        Distinct(view.Members.Select(member => member.Id));
        Distinct(view.Joined.Concat(view.Moved.Select(move => move.Member)));
        Distinct(view.Left.Concat(view.Failed));
        return view.Id > 0 && view.Name.Length > 0 && view.Joined.All(id => view.RankOf(id) >= 0) && !view.Left.Concat(view.Failed).Any(id => view.RankOf(id) >= 0)
            && view.Moved.All(move => view.RankOf(move.Member) == move.NewRank && move.OldRank != move.NewRank);
    }
}
