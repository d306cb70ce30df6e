using System.Collections.ObjectModel;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>A family of random schedules: the tests run some seeds of it, the campaign very many. The script throws when a guarantee is broken.</summary>
internal sealed record Scenario(string Name, Action<ScenarioRun> Script)
{
    /// <summary>What its runs may draw, each to be found in at least one seed of a hundred; see <see cref="Scenarios.Ingredients"/>.</summary>
    public IReadOnlyList<string> Ingredients { get; init; } = [];

    /// <summary>
    /// What its runs may draw beside <see cref="Ingredients"/>, and in how large a share of its seeds at most: what is excused as bad luck. Where there is more of it, something
    /// else is behind it.
    /// </summary>
    public IReadOnlyDictionary<string, double> Seldom { get; init; } = ReadOnlyDictionary<string, double>.Empty;

    /// <summary>
    /// The largest share of its seeds in which the faults may take what the guarantees need, so that little is judged. More is a defect of the schedule, or of the code that
    /// reports the loss. Null: not bounded.
    /// </summary>
    public double? MostLost { get; init; }

    /// <summary>Whether its nodes talk over the TCP mesh and not in memory.</summary>
    public bool IsOverMesh { get; private init; }

    /// <summary>Over the mesh, bytes of the smallest buffers of connections: as few as its messages may fill.</summary>
    public int LeastBuffer { get; init; } = new SocketModel().LeastBuffer;

    /// <summary>The same over the TCP mesh on simulated sockets; <paramref name="except"/>: what only links in memory do.</summary>
    public Scenario OverMesh(params string[] except) => new($"{Name}-mesh", Script) { IsOverMesh = true, MostLost = MostLost, Seldom = Seldom, Ingredients = [.. Ingredients.Except(except), .. SocketNames.Declared, .. MeshStranger.Names] };

    /// <summary>Whether somebody listens to the activities of its calls.</summary>
    public bool IsListenedTo { get; private init; }

    /// <summary>The same with a listener to the activities of its calls that throws.</summary>
    public Scenario Listened() => this with { Name = $"{Name}-listened", IsListenedTo = true, Ingredients = [.. Ingredients, Unruly.Listener] };

    /// <summary>Plays one seed of it, and counts what its simulated world did. Every runner of seeds calls this.</summary>
    public void Play(ScenarioRun run)
    {
        using var listening = IsListenedTo ? Unruly.Listen(run) : null;
        Script(run);
        run.NoteWorld();
    }

    /// <summary>The scenario as the runner of seeds wants it.</summary>
    public Action<SimulationCase> Case(string? without = null, Action<ScenarioRun>? done = null) => run =>
    {
        var scenario = new ScenarioRun(run, this, without);
        Play(scenario);
        done?.Invoke(scenario);
    };

    /// <summary>
    /// The first of the seeds 1 … <paramref name="most"/> in which the lack of a rule shows as the <paramref name="anomaly"/> that it must bring about; null when it never
    /// does. A seed that fails with all rules too shows a bug, and nothing about this rule; one that fails in another way may have broken down before it was judged.
    /// </summary>
    public ulong? FirstWithout(string rule, string anomaly, int most)
    {
        for (ulong seed = 1; seed <= (ulong)most; seed++)
        {
            if (Judge(seed, rule) is { } violation && violation.Message.Contains(anomaly, StringComparison.Ordinal) && Judge(seed) is null) return seed;
        }
        return null;
    }

    /// <summary>What a seed violates without a rule; null when nothing.</summary>
    public Exception? Judge(ulong seed, string? without = null) => new SeedRun(seed, Name, "", Case(without)).Run(Reduction.None).Failure;

    public override string ToString() => Name;
}
