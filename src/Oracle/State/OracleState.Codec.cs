using System.Buffers;
using GroupCore.Membership;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.State;

/// <summary>Saves and restores the whole state. The bytes are the same at every replica that applied the same entries.</summary>
internal sealed partial class OracleState
{
    private const int Format = 4;

    public void Save(IBufferWriter<byte> into)
    {
        var writer = new MessagePackWriter(into);
        writer.WriteArrayHeader(8);
        writer.WriteInt(Format);
        writer.WriteUInt(_index);
        writer.WriteUInt(ProcessesVersion);
        writer.WriteUInt(_lastGroup);
        writer.WriteArrayHeader(_pastOrder.Count);
        foreach (ulong node in _pastOrder) writer.WriteUInt(node);
        writer.WriteArrayHeader(_processes.Count);
        foreach (var process in _processes.Values) Save(ref writer, process);
        writer.WriteArrayHeader(_groups.Count);
        foreach (var group in _groups.Values) Save(ref writer, group);
        writer.WriteArrayHeader(_lost.Count * 5);
        foreach (var lost in _lost.Values)
        {
            WireFormat.Write(ref writer, lost.Id);
            writer.WriteString(lost.Name);
            WireFormat.Write(ref writer, lost.Failed);
            writer.WriteInt(lost.Lease);
        }
        writer.Flush();
    }

    public IRestore BeginRestore() => new Restore(this, new(events, rules, most, room));

    /// <summary>Replaces the current state by another one, whose tables it takes over without a copy.</summary>
    private void Become(OracleState other)
    {
        (_index, ProcessesVersion, _lastGroup, Bytes) = (other._index, other.ProcessesVersion, other._lastGroup, other.Bytes);
        (_processes, _byNode, _past, _pastOrder) = (other._processes, other._byNode, other._past, other._pastOrder);
        (_groups, _byName, _lost, _lostNames) = (other._groups, other._byName, other._lost, other._lostNames);
        _rebuild.Clear();
        events.OnRestored();
    }

    private void Past(ulong node)
    {
        if (_past.Add(node)) _pastOrder.Enqueue(node);
    }

    private void Add(ProcessRecord process)
    {
        _processes.Add(process.Id, process);
        _byNode.Add(process.Id.Node, process);
        Bytes += Sizes.Of(process);
        foreach (var result in process.Results.Values) Bytes += Sizes.Of(result);
    }

    private void Add(GroupRecord group)
    {
        _groups.Add(group.Id, group);
        _byName.Add(group.Name, group);
        foreach (var member in group.View.Members) Named(member.Id).Groups.Add(group.Id);
        group.QueueBytes = 0;
        foreach (var request in group.Queue)
        {
            Named(request.Process).Groups.Add(group.Id);
            group.QueueBytes += PlaceOf(request);
        }
        group.Counted = 0;
        Count(group);
    }

    private void Add(LostGroup lost)
    {
        _lost.Add(lost.Name, lost);
        _lostNames.Add(lost.Id, lost.Name);
        Bytes += Sizes.Of(lost);
    }

    private ProcessRecord Named(ProcessId id) => Find(id) ?? throw new InvalidDataException($"A group names process {id}, which is not saved.");

    private static void Save(ref MessagePackWriter writer, ProcessRecord process)
    {
        writer.WriteArrayHeader(13);
        WireFormat.Write(ref writer, process.Id);
        WireFormat.Write(ref writer, process.Address);
        writer.WriteString(process.Tag);
        writer.WriteString(process.Host);
        writer.WriteInt(process.Number);
        writer.WriteInt(process.Start);
        writer.WriteInt(process.Lease);
        writer.WriteBoolean(process.OwnsAddress);
        writer.WriteInt((int)process.Status);
        writer.WriteBoolean(process.Proved);
        writer.WriteUInt(process.Floor);
        writer.WriteArrayHeader(process.Results.Count * 7);
        for (int i = 0; i < process.Results.Count; i++)
        {
            OperationResult result = process.Results.GetValueAtIndex(i);
            writer.WriteUInt(process.Results.GetKeyAtIndex(i));
            writer.WriteBoolean(result.Ok);
            writer.WriteString(result.Reason);
            WireFormat.Write(ref writer, result.Process);
            WireFormat.Write(ref writer, result.Group);
        }
    }

    private static ProcessRecord LoadProcess(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader();
        var process = new ProcessRecord(new(WireFormat.ReadNode(ref reader), reader.ReadUInt64()), WireFormat.ReadAddress(ref reader), WireFormat.ReadText(ref reader, Limits.TagBytes),
            WireFormat.ReadText(ref reader, Limits.NameBytes), reader.ReadInt32(), reader.ReadInt64(), reader.ReadWithin(0, Limits.LeaseLength), reader.ReadBoolean())
        {
            Status = WireFormat.ReadEnum<ProcessStatus>(ref reader, 3),
            Proved = reader.ReadBoolean(),
            Floor = reader.ReadUInt64(),
        };
        int results = WireFormat.ReadCount(ref reader, Limits.RequestsPerProcess + 1, 7);
        for (int i = 0; i < results; i++)
        {
            ulong number = reader.ReadUInt64();
            process.Results.Add(number, new(reader.ReadBoolean(), WireFormat.ReadText(ref reader, Limits.ReasonBytes), WireFormat.ReadProcess(ref reader),
                WireFormat.ReadGroup(ref reader)));
        }
        return process;
    }

    private static void Save(ref MessagePackWriter writer, GroupRecord group)
    {
        writer.WriteArrayHeader(9);
        WireFormat.Write(ref writer, group.Id);
        writer.WriteInt(group.Acceptors);
        writer.WriteArrayHeader(group.Installs.Count);
        foreach (var view in group.Installs)
        {
            writer.WriteArrayHeader(WireFormat.ViewFields);
            WireFormat.Write(ref writer, view);
        }
        writer.WriteBoolean(group.Pending is not null);
        if (group.Pending is { } pending)
        {
            writer.WriteArrayHeader(WireFormat.ProposalFields + 1);
            WireFormat.Write(ref writer, pending.Proposal);
            WireFormat.Write(ref writer, pending.Failed);
        }
        else
        {
            writer.WriteNil();
        }
        writer.WriteArrayHeader(group.Queue.Count * 3);
        foreach (var request in group.Queue)
        {
            WireFormat.Write(ref writer, request.Process);
            writer.WriteString(request.Tag);
        }
        WireFormat.Write(ref writer, group.Leavers.ToList());
        WireFormat.Write(ref writer, group.Stalled.ToList());
    }

    private static GroupRecord LoadGroup(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader();
        GroupId id = WireFormat.ReadGroup(ref reader);
        int acceptors = (int)reader.ReadWithin(0, Limits.GroupMembers);
        int installs = WireFormat.ReadCount(ref reader, Limits.InstallsKept);
        if (installs == 0) throw new InvalidDataException("A group without a view.");
        var views = new List<View>(installs);
        for (int i = 0; i < installs; i++)
        {
            reader.ReadArrayHeader();
            View view = WireFormat.ReadView(ref reader);
            if (view.Group != id || (i > 0 && (view.Id <= views[^1].Id || view.Name != views[^1].Name))) throw new InvalidDataException("Views that do not follow each other.");
            views.Add(view);
        }
        View last = views[^1];
        var group = new GroupRecord(id, last.Name, last.Options, acceptors, last);
        group.Installs.InsertRange(0, views.Take(views.Count - 1));
        group.InstallBytes.InsertRange(0, views.Take(views.Count - 1).Select(Sizes.Of));
        if (reader.ReadBoolean())
        {
            reader.ReadArrayHeader();
            group.Pending = new(WireFormat.ReadProposal(ref reader), WireFormat.ReadProcesses(ref reader));
            if (group.Pending.Proposal.Group != id || group.Pending.Proposal.BaseView != last.Id) throw new InvalidDataException("A proposal for another view.");
        }
        else
        {
            reader.Skip();
        }
        int queue = WireFormat.ReadCount(ref reader, Limits.GroupQueue, 3);
        for (int i = 0; i < queue; i++) group.Queue.Add(new(WireFormat.ReadProcess(ref reader), WireFormat.ReadText(ref reader, Limits.TagBytes)));
        WireFormat.Distinct(last.Members.Select(member => member.Id).Concat(group.Queue.Select(request => request.Process)));
        if (group.Pending is { } noted && !IsOf(group, noted)) throw new InvalidDataException("A proposal does not name each member once, or names a process that does not wait to join.");
        group.Leavers.UnionWith(WireFormat.ReadProcesses(ref reader));
        group.Stalled.UnionWith(WireFormat.ReadProcesses(ref reader));
        return group;
    }

    /// <summary>
    /// Whether a proposal says of each member whether it stays, and lets in only processes that wait to join. Then all processes that it may install have records.
    /// </summary>
    private static bool IsOf(GroupRecord group, PendingProposal pending)
    {
        var (proposal, members) = (pending.Proposal, group.View.Members);
        var named = proposal.Survivors.Concat(proposal.Leavers).Concat(pending.Failed).ToHashSet();
        return named.Count == proposal.Survivors.Count + proposal.Leavers.Count + pending.Failed.Count && named.SetEquals(members.Select(member => member.Id))
            && proposal.Joiners.All(joiner => group.QueueIndexOf(joiner.Id) >= 0);
    }
}
