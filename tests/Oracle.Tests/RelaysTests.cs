using Oracle.Client;
using Oracle.Detection;

namespace Oracle.Tests;

/// <summary>Probes on behalf of others. The number of a peer is that of its node; the tests check which peers are sent something.</summary>
public sealed class RelaysTests
{
    private const int Asker = 3, Subject = 7;
    private readonly TellingLinks _links = new();
    private readonly LogBus _bus = new();
    private readonly Introductions _introductions;
    private readonly Relays _relays;
    private readonly OracleDirectory _directory;

    public RelaysTests()
    {
        var node = new LogBus.Part(_bus, 1, _links);
        _directory = new(node);
        _introductions = new(node, new(node), _directory);
        _relays = new(node, new(node), _introductions);
    }

    /// <summary>No other process can make this one open links.</summary>
    [Fact]
    public void Only_a_link_that_is_up_already_is_used()
    {
        _relays.Ask(Asker, Subject, 1);
        Assert.Empty(_links.Told);
        _relays.OnUp(Subject);
        _relays.Ask(Asker, Subject, 1);
        Assert.Equal([Subject], Told());
        _relays.OnClosed(Subject);
        _relays.Ask(Asker, Subject, 1);
        Assert.Empty(Told());
        Assert.Equal(0, _relays.Count);
    }

    [Fact]
    public void Each_that_asked_is_told_once_of_the_answer()
    {
        _relays.OnUp(Subject);
        foreach (int asker in (int[])[Asker, 4, Asker]) _relays.Ask(asker, Subject, 1);
        Told();
        _relays.Answered(Subject);
        Assert.Equal([Asker, 4], Told().Order());
        _relays.Answered(Subject);
        Assert.Empty(Told());
    }

    [Fact]
    public void An_answer_of_another_process_does_not_count()
    {
        _relays.OnUp(Subject);
        _relays.OnUp(8);
        _relays.Ask(Asker, Subject, 1);
        Told();
        _relays.Answered(8);
        Assert.Empty(Told());
        _relays.Answered(Subject);
        Assert.Equal([Asker], Told());
    }

    [Fact]
    public void An_answer_after_three_seconds_is_told_to_nobody()
    {
        _relays.OnUp(Subject);
        _relays.Ask(Asker, Subject, 1);
        _bus.Pass(Relays.Life);
        _relays.Ask(4, Subject, 1);
        _bus.Pass(1);
        Told();
        _relays.Answered(Subject);
        Assert.Equal([4], Told());
    }

    [Fact]
    public void No_more_than_64_wait_for_answers_and_those_that_waited_too_long_give_way()
    {
        _relays.OnUp(Subject);
        for (int asker = 10; asker < 100; asker++) _relays.Ask(asker, Subject, 1);
        Assert.Equal(64, Told().Count);
        _bus.Pass(Relays.Life + 1);
        _relays.Ask(200, Subject, 1);
        Assert.Equal([Subject], Told());
        _relays.Answered(Subject);
        Assert.Equal([200], Told());
    }

    [Fact]
    public void A_number_for_an_introduction_goes_to_the_subject_alone()
    {
        _relays.Introduce(Asker, Subject, 5);
        _relays.Say(Subject, 5);
        Assert.Empty(Told());
        _relays.OnUp(Subject);
        _relays.Introduce(Asker, Subject, 5);
        _relays.Say(Subject, 5);
        Assert.Equal([Subject, Subject], Told());
    }

    /// <summary>Neither this process nor the one in question is asked.</summary>
    [Fact]
    public void The_other_replicas_are_asked_for_an_introduction_once_a_second()
    {
        _directory.Learn(new([LogBus.ReplicaOf(1), LogBus.ReplicaOf(2), LogBus.ReplicaOf(9)], [LogBus.ReplicaOf(4)]));
        _introductions.Ask(9, 9);
        Assert.Equal([2, 4], Told());
        _bus.Pass(Durations.Second - 1);
        _introductions.Ask(9, 9);
        Assert.Empty(Told());
        _bus.Pass(1);
        _introductions.Ask(9, 9);
        Assert.Equal([2, 4], Told());
        Assert.False(_introductions.Has(9) || _introductions.HasNode(9));
    }

    private List<int> Told()
    {
        List<int> told = [.. _links.Told];
        _links.Told.Clear();
        return told;
    }
}
