using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Each of several handlers of one event begins as it would alone.</summary>
public sealed class SeveralHandlersTests
{
    private readonly AsyncLocal<string?> _own = new();
    private readonly SynchronizationContext _place = new();
    private readonly Dictionary<string, int> _clean = [], _changed = [];

    private void Change()
    {
        SynchronizationContext.SetSynchronizationContext(_place);
        _own.Value = "mine";
    }

    private void Look(string where)
    {
        var into = _own.Value is null && !ReferenceEquals(SynchronizationContext.Current, _place) ? _clean : _changed;
        into[where] = into.GetValueOrDefault(where) + 1;
    }

    [Fact]
    public void Context_changes_of_one_handler_do_not_reach_the_next_handler_of_the_same_event()
    {
        using var cluster = new GroupCluster(1, 2, more: g => g
            .OnView(_ => Change())
            .OnView(_ => Look("view"))
            .OnViewProposed((_, context) =>
            {
                Change();
                context.Done();
            })
            .OnViewProposed((_, context) =>
            {
                Look("hook");
                context.Done();
            }));
        Assert.True(cluster.Settle());
        Assert.True(_clean.ContainsKey("view") && _clean.ContainsKey("hook"));
        Assert.Empty(_changed);
    }

    /// <summary>The handler for errors does not see that context either, and the changes that it makes itself do not stay.</summary>
    [Fact]
    public void Context_changes_of_a_handler_that_throws_reach_no_other_handler()
    {
        using var cluster = new GroupCluster(2, 2, more: g => g
            .OnError(error =>
            {
                Look(error.Handler);
                Change();
            })
            .OnView(_ => Throw())
            .OnView(_ => Look("behind view"))
            .OnViewProposed((_, _) => Throw())
            .OnViewProposed((_, context) =>
            {
                Look("behind hook");
                context.Done();
            })
            .Handle<int>("say", (_, _) => Throw())
            .OnQuery<int, int>("question", (_, _) => Throw()));
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(async () =>
        {
            await cluster[0].Group!.SendAsync("say", 1);
            await Assert.ThrowsAsync<QueryAbortedException>(async () => await cluster[0].Group!.QueryToAsync<int, int>(1, "question", 1));
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(_clean.ContainsKey("behind view") && _clean.ContainsKey("behind hook"), string.Join(", ", _clean.Keys));
        Assert.True(_clean.ContainsKey("view") && _clean.ContainsKey("view proposed") && _clean.ContainsKey("say") && _clean.ContainsKey("question"), string.Join(", ", _clean.Keys));
        Assert.Empty(_changed);
    }

    private QueryAnswer<int> Throw()
    {
        Change();
        throw new FormatException("on purpose");
    }

    /// <summary>User code makes the text of its exceptions, and the node must not wait for that.</summary>
    [Fact]
    public void R_the_text_of_what_a_load_throws_is_asked_for_where_the_load_runs()
    {
        bool? inside = null;
        using var cluster = new GroupCluster(3, 1);
        Assert.True(cluster.Settle());
        TestMember? comer = null;
        comer = cluster.Add(g => g.OnError(static _ => { }).Checkpoint(static _ => { }, _ => throw new SlowlyTold(() => inside = comer!.Host.Groups[0].Upcalls.IsCurrent)));
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, TimeSpan.FromSeconds(5)));
        Assert.True(inside);
    }

    private sealed class SlowlyTold(Action told) : Exception
    {
        public override string Message
        {
            get
            {
                told();
                return "told";
            }
        }
    }
}
