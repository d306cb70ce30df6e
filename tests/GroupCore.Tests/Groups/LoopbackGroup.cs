using GroupCore.Groups;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>Three members of one group on one thread, without anything that allocates by itself.</summary>
internal sealed class LoopbackGroup
{
    private readonly List<ValueTask> _awaited = new(1_024);
    private long _now;

    public LoopbackGroup()
    {
        Members = new LoopbackNode[3];
        for (int i = 0; i < 3; i++) Members[i] = new(Members, i);
        var joined = Members.Select(m => m.Host.JoinAsync("g", g => g
            .HandleBytes("bytes", (from, bytes) => Delivered++)
            .Handle<long>("number", (from, number) => Delivered++)
            .OnQuery<int, int>("ask", Answer)).AsTask()).ToList();
        Run();
        var view = new View(new(1, 1), "g", 1, 0, new(), [.. Members.Select(m => new ViewMember(m.Self, m.Local, true, ""))], [], [], [], []);
        foreach (var member in Members) member.Install(view);
        Run();
        for (int i = 0; i < 3; i++) Members[i].Group = joined[i].Result;
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
            quiet = ran ? 0 : quiet + 1;
        }
        foreach (var call in _awaited)
        {
            Assert.True(call.IsCompletedSuccessfully);
            call.GetAwaiter().GetResult();
        }
        _awaited.Clear();
    }
}
