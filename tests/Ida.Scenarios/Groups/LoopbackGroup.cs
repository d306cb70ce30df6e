using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Scenarios;

/// <summary>Members of one group on one thread, without anything that allocates by itself. Views change on request only, and keep their members.</summary>
internal sealed class LoopbackGroup
{
    private readonly List<ValueTask> _awaited = new(1_024);
    private View _view;
    private Proposal? _pending;
    private long _now;

    public LoopbackGroup(int members = 3, int bufferBytes = 8 << 20)
    {
        Members = new LoopbackNode[members];
        for (int i = 0; i < members; i++) Members[i] = new(Members, i, bufferBytes);
        var joined = Members.Select(m => m.Host.JoinAsync("g", g => g
            .HandleBytes("bytes", (from, bytes) => Delivered++)
            .Handle<long>("number", (from, number) => Delivered++)
            .OnQuery<int, int>("ask", Answer)).AsTask()).ToList();
        Run();
        _view = new View(new(1, 1), "g", 1, 0, new(), [.. Members.Select(m => new ViewMember(m.Self, m.Local, true, ""))], [], [], [], []);
        foreach (var member in Members) member.Install(_view);
        Run();
        for (int i = 0; i < members; i++) Members[i].Group = joined[i].Result;
    }

    public LoopbackNode[] Members { get; }

    public long Delivered { get; private set; }

    private int Answer(MemberRef from, int question)
    {
        Delivered++;
        return question + 1;
    }

    /// <summary>The result is taken when all members have come to rest.</summary>
    public void Await(ValueTask call) => _awaited.Add(call);

    /// <summary>Turns until nothing happens any more and all acknowledgements are out.</summary>
    public void Run()
    {
        for (int quiet = 0; quiet < 2;)
        {
            _now += quiet == 0 ? 1_000 : 20_000_000;
            bool ran = false;
            foreach (var member in Members) ran |= member.Turn(_now);
            ran |= ChangeView();
            quiet = ran ? 0 : quiet + 1;
        }
        foreach (var call in _awaited)
        {
            Assert.True(call.IsCompletedSuccessfully);
            call.GetAwaiter().GetResult();
        }
        _awaited.Clear();
    }

    /// <summary>A step of a view change that somebody asked for: all flush, then all install. Whether there was one.</summary>
    private bool ChangeView()
    {
        if (_pending is null)
        {
            if (!Array.Exists(Members, static m => m.WantsView)) return false;
            _pending = new(_view.Group, _view.Proposal + 1, _view.Id, [.. Members.Select(m => m.Self)], [], []);
            foreach (var member in Members)
            {
                member.WantsView = false;
                member.Propose(_pending);
            }
            return true;
        }
        if (!Array.Exists(Members, m => m.Flushed == _pending.Number)) return false;
        _view = new(_view.Group, _view.Name, _view.Id + 1, _pending.Number, _view.Options, _view.Members, [], [], [], []);
        _pending = null;
        foreach (var member in Members) member.Install(_view);
        return true;
    }
}
