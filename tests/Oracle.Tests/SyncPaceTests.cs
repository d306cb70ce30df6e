using GroupCore.Wire;
using Ida.Testing;

namespace Oracle.Tests;

/// <summary>A process asks for all its groups at once, however many of them want to know what they missed.</summary>
public sealed class SyncPaceTests
{
    private const int Groups = 50;

    [Fact]
    public void Groups_that_ask_in_the_same_moment_are_asked_for_in_one_question_and_none_is_forgotten()
    {
        using var cluster = new OracleCluster(1, 5);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 5, 10), cluster.Describe());
        cluster.Run(3);
        // Not a replica: what it asks goes over its links.
        var one = cluster.Alive.Last(process => process.Oracle.Replica is null);
        for (int i = 0; i < Groups; i++)
        {
            string name = $"own{i}";
            one.Node.Post(() => one.Oracle.Join(name, new(), ""));
        }
        Assert.True(cluster.RunUntil(() => one.Groups.Groups.Count(group => group.View is not null) == Groups + 1, 10), cluster.Describe());
        int asked = 0;
        one.Node.WatchFrames((node, frame) =>
        {
            asked += frame.Type == FrameType.Sync ? 1 : 0;
            return CrashMoment.None;
        });
        cluster.Run(0.2);
        asked = 0;
        one.Node.Post(() => AskForAll(one));
        // One that has just gone out is followed by the next in 100 ms.
        cluster.Run(0.12);
        Assert.InRange(asked, 1, 2);

        // Each with its own timer: for a second on end.
        asked = 0;
        for (int i = 0; i < 500; i++)
        {
            one.Node.Post(() => AskForAll(one));
            cluster.Run(0.002);
        }
        Assert.InRange(asked, 5, 13);

        // The last ones to ask are asked for as well.
        one.Node.Post(() => AskForAll(one));
        asked = 0;
        cluster.Run(0.12);
        Assert.InRange(asked, 1, 2);
        cluster.AssertNoViolations();
    }

    private static void AskForAll(OracleCluster.Process one)
    {
        foreach (var group in one.Groups.Groups)
            if (group.View is { } view) one.Oracle.Sync(view.Group, view.Id, 0);
    }
}
