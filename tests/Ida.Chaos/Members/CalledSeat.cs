using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>
/// The handlers of one membership in the group of every call, and what they must hear: messages of a sender once, in their order and none missing from the first on that is heard, and views that follow each other. A question
/// comes behind all messages that its asker sent before it in the same order: its own, or the one of all.
/// </summary>
internal sealed class CalledSeat(ProcessId self, Action<string> broken)
{
    private const int ViewsKept = 64;
    private readonly HeardMessages _heard = new();
    private readonly ConcurrentDictionary<ulong, View> _views = [];
    private ulong _chain = 1, _lastOwn;
    private View? _view;

    /// <summary>The number of the last ordered message of its own that it has handled.</summary>
    public ulong LastOwn => Volatile.Read(ref _lastOwn);

    /// <summary>In which view its own questions came to it.</summary>
    public ConcurrentDictionary<ulong, View> Asked { get; } = [];

    /// <summary>The views that it has seen after another, unless that was long ago.</summary>
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
        // Ranks move with views: what came to another than was meant has its number on the way to that one.
        if (message.To == self.Node) Hear("one", from, message.Number, message.Anew);
    }

    internal void OnOrdered(MemberRef from, (ulong Number, bool Anew) message)
    {
        Hear("ordered", from, message.Number, message.Anew);
        _chain = (_chain * 0x9E37_79B9_7F4A_7C15) + (message.Number ^ from.Id.Node);
        // A rank is another's after a view.
        if (from.Id == self) Volatile.Write(ref _lastOwn, message.Number);
    }

    internal ulong OnAsked(MemberRef from, (ulong Question, ulong Sent) message)
    {
        if (_heard.Expect("fifo", from.Id, message.Sent) is { } lost) broken(lost);
        NoteOwn(from, message.Question);
        return message.Question + 1;
    }

    /// <summary>A question that is ordered comes behind all that its asker sent in the one order before.</summary>
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
