using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>
/// The handlers of one membership in the group of every call, and what they must hear. Messages of a sender come once, in order, with none missing after the first that is heard. Views follow
/// each other. A question comes after all messages that its asker sent before it in the same order: the asker's own, or the total order.
/// </summary>
internal sealed class CalledSeat(ProcessId self, Action<string> broken)
{
    private const int ViewsKept = 64;
    private readonly HeardMessages _heard = new();
    private readonly ConcurrentDictionary<ulong, View> _views = [];
    private ulong _chain = 1, _lastOwn;
    private View? _view;

    /// <summary>The number of the last ordered message of this member itself that it has handled.</summary>
    public ulong LastOwn => Volatile.Read(ref _lastOwn);

    /// <summary>The view in which each of this member's own questions came to it.</summary>
    public ConcurrentDictionary<ulong, View> Asked { get; } = [];

    /// <summary>The views that came after the given one; only the last 64 views are kept.</summary>
    public IReadOnlyCollection<View> ViewsAfter(View view) => [.. _views.Values.Where(one => one.Id > view.Id)];

    public void Configure(GroupBuilder group) => group
        .Handle<(ulong Number, bool Anew)>("fifo", (from, message) => Hear("fifo", from, message.Number, message.Anew))
        .Handle<(ulong Number, bool Anew, ulong To)>("one", OnOne)
        .Handle<(ulong Number, bool Anew)>("ordered", OnOrdered)
        .OnQuery<(ulong Question, ulong Sent), ulong>("ask", OnAsked)
        .OnQuery<(ulong Question, ulong Sent), ulong>("state", OnState)
        .OnView(OnView)
        .Checkpoint(Save, Load);

    private void OnView(View view)
    {
        if (_view is { } last && view.Id != last.Id + 1) broken($"view {view.Id} came after {last.Id}");
        _view = view;
        _views[view.Id] = view;
        if (view.Id >= ViewsKept) _views.TryRemove(view.Id - ViewsKept, out _);
    }

    private void OnOne(MemberRef from, (ulong Number, bool Anew, ulong To) message)
    {
        // Ranks move with views. A message that came to the wrong member has a number of the way to the member that was meant.
        if (message.To == self.Node) Hear("one", from, message.Number, message.Anew);
    }

    internal void OnOrdered(MemberRef from, (ulong Number, bool Anew) message)
    {
        Hear("ordered", from, message.Number, message.Anew);
        _chain = (_chain * 0x9E37_79B9_7F4A_7C15) + (message.Number ^ from.Id.Node);
        // Compared by id: after a view the rank may be another member's.
        if (from.Id == self) Volatile.Write(ref _lastOwn, message.Number);
    }

    internal ulong OnAsked(MemberRef from, (ulong Question, ulong Sent) message)
    {
        if (_heard.Expect("fifo", from.Id, message.Sent) is { } lost) broken(lost);
        NoteOwn(from, message.Question);
        return message.Question + 1;
    }

    /// <summary>An ordered question comes after everything that its asker sent before it in the total order.</summary>
    internal ulong OnState(MemberRef from, (ulong Question, ulong Sent) message)
    {
        if (_heard.Expect("ordered", from.Id, message.Sent) is { } lost) broken(lost);
        NoteOwn(from, message.Question);
        return _chain;
    }

    private void NoteOwn(MemberRef from, ulong question)
    {
        if (from.Id == self && _view is not null) Asked[question] = _view;
    }

    private void Hear(string way, MemberRef from, ulong number, bool anew)
    {
        if (_heard.Hear(way, from.Id, number, anew) is { } wrong) broken(wrong);
    }

    private void Save(IBufferWriter<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to.GetSpan(sizeof(ulong)), _chain);
        to.Advance(sizeof(ulong));
    }

    private void Load(ReadOnlyMemory<byte> state) => _chain = BinaryPrimitives.ReadUInt64LittleEndian(state.Span);
}
