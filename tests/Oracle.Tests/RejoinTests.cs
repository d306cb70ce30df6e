using GroupCore.Membership;
using Oracle.Client;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>A process that joins a group again hears nothing of its earlier membership.</summary>
public sealed class RejoinTests
{
    private static readonly ProcessId A = new(1, 1), B = new(2, 2);
    private static readonly GroupId Group = new(1, 3);

    /// <summary>Only the latest 1,024 ends are kept, and the oldest of them is forgotten. A group that ended again counts by its latest end, not by its first.</summary>
    [Fact]
    public void A_group_that_ended_a_moment_ago_is_known_to_have_ended_however_long_ago_it_ended_before()
    {
        var book = new KnownGroups();
        Assert.True(book.TakeInstall(ViewOf(1, A, B), A));
        Assert.True(book.TakeInstall(ViewOf(2, B), A));
        for (uint other = 2; other <= 1_024; other++) EndOf(book, other);
        Assert.True(book.TakeInstall(ViewOf(10, A, B), A));
        Assert.True(book.TakeInstall(ViewOf(11, B), A));
        for (uint other = 2_000; other < 3_000; other++) EndOf(book, other);
        book.Accepted(Group);
        Assert.False(book.TakeInstall(ViewOf(10, A, B), A));
        Assert.False(book.TakeInstall(ViewOf(11, B), A));
        Assert.True(book.TakeInstall(ViewOf(12, A, B), A));
        Assert.Equal(12ul, book.ViewOf(Group));
    }

    [Fact]
    public void A_group_that_ends_again_and_again_takes_the_place_of_one()
    {
        var book = new KnownGroups();
        Assert.True(book.TakeInstall(ViewOf(1, A, B), A));
        Assert.True(book.TakeInstall(ViewOf(2, B), A));
        for (int times = 0; times < 2_000; times++) EndOf(book, 7);
        book.Accepted(Group);
        Assert.False(book.TakeInstall(ViewOf(1, A, B), A));
    }

    /// <summary>A late frame of a replica must not hide which members are missing in the proposal that follows the latest view.</summary>
    [Fact]
    public void An_older_view_does_not_take_the_place_of_the_latest()
    {
        var book = new KnownGroups();
        Assert.True(book.TakeInstall(ViewOf(5, A, B), A));
        Assert.True(book.TakeInstall(ViewOf(4, A), A));
        Assert.Equal([B], book.FailedOf(new(Group, 100, 5, [A], [], [])));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_process_is_told_of_the_proposal_that_names_it_if_it_waits_to_join_again_and_otherwise_of_the_views_that_it_missed(bool again)
    {
        var bus = new LogBus();
        var node = bus.Add(1);
        var sender = new FrameSender(node);
        var replica = new OracleReplica(node, new(), sender, () => { }, () => { });
        var state = replica.State;
        ulong index = 0, number = 0;
        foreach (ulong id in new ulong[] { 1, 2 }) Apply(new(default, 0, 0, new Register(id, LogBus.ReplicaOf(id).Address, "", "", 0, 0, Durations.Second)));
        var ids = state.Processes.Select(process => process.Id).ToList();
        Of(ids[0], new Join("g", new(), 0, ""));
        var group = state.FindGroup("g")!;
        Of(ids[1], new Join("g", new(), 0, ""));
        Of(ids[0], new ViewCompletion(group.Id, 1, group.Pending!.Number, [ids[0]]));
        Of(ids[1], new Leave(group.Id));
        Of(ids[0], new ViewCompletion(group.Id, 2, group.Pending!.Number, [ids[0]]));
        Assert.Equal((3ul, 1), (group.View.Id, group.View.Members.Count));
        if (again) Of(ids[1], new Join("g", new(), 0, ""));
        bus.Pass(Durations.Second);
        replica.OnSync(FrameSender.Own, LogBus.ReplicaOf(ids[1].Node), new(ids[1], [new(group.Id, 0, 0)]));
        var told = new List<string>();
        while (sender.TryTakeOwn(out var type, out byte[] body))
        {
            Assert.True(FrameCodec.TryRead(type, body, out _, out var frame));
            if (frame is InstallFrame install) told.Add($"view {install.View.Id}");
            if (frame is ProposeFrame) told.Add("proposal");
        }
        Assert.Equal(again ? ["proposal"] : ["view 2", "view 3"], told);

        void Of(ProcessId requester, Operation operation) => Apply(new(requester, ++number, 0, operation));

        void Apply(Request request) => state.Apply(++index, OperationCodec.WriteEntry([request]));
    }

    private static void EndOf(KnownGroups book, uint number)
    {
        book.Accepted(new(number, 3));
        Assert.True(book.End(new(number, 3), 1));
    }

    private static View ViewOf(ulong id, params ProcessId[] members) =>
        new(Group, "g", id, id, new(), [.. members.Select(member => new ViewMember(member, LogBus.ReplicaOf(member.Node).Address, true, ""))], [], [], [], []);
}
