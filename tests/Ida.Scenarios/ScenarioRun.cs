using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>One seed of a scenario: what to run, and what it yields besides passing.</summary>
internal sealed class ScenarioRun(SimulationCase @case, Scenario scenario, string? without = null)
{
    private Simulation? _simulation;
    private bool _hasStranger;

    public SimulationCase Case { get; } = @case;

    /// <summary>The simulation of this run.</summary>
    public Simulation Start(SimulationOptions? options = null)
    {
        options ??= new();
        if (scenario.IsOverMesh) options = options with { Carrier = SimCarrier.Mesh, IsSecure = SocketNames.IsSecure(Case.Seed), Sockets = SocketNames.Draw(Case.Seed) with { LeastBuffer = scenario.LeastBuffer } };
        return _simulation = Case.Start(options);
    }

    /// <summary>
    /// In every third seed over the mesh, begins a node that nobody knows and that sends hostile frames to the members of <paramref name="view"/> until it is crashed; null in
    /// the others.
    /// </summary>
    public SimNode? BeginStranger(Func<View?> view)
    {
        if (!scenario.IsOverMesh || !MeshStranger.IsDrawn(Case.Seed) || !Case.Happens($"stranger")) return null;
        _hasStranger = true;
        return MeshStranger.Begin(_simulation!, view, Ingredients.Draw);
    }

    /// <summary>Counts what sockets, strangers and threads did in its simulation, and judges that without a stranger no node was sent what no node sends.</summary>
    public void NoteWorld()
    {
        if (_simulation is null) return;
        if (scenario.IsOverMesh)
        {
            SocketNames.Note(_simulation, Ingredients);
            MeshStranger.Note(_simulation.Nodes, Ingredients);
        }
        ThreadNames.Note(_simulation.Threads, Ingredients);
        if (!_hasStranger && Without is null && _simulation.Nodes.FirstOrDefault(static one => Offences.Of(one.Node.Counters) > 0) is { } victim) throw new ScenarioFailedException($"{victim.Name} was sent frames that no node sends.");
    }

    /// <summary>The rule that is left out, for negative controls.</summary>
    public string? Without { get; } = without;

    /// <summary>What the run drew.</summary>
    public Ingredients Ingredients { get; } = new([.. scenario.Ingredients, .. scenario.Seldom.Keys]);

    /// <summary>How long things took in the run.</summary>
    public Measures Measures { get; } = new();

    /// <summary>What calls met in the run.</summary>
    public CallTable Calls { get; } = new();

    /// <summary>Takes over what a ledger has counted; throws if a call did what it must not.</summary>
    public void Note(CallLedger ledger)
    {
        ledger.AddTo(Calls);
        ScenarioFailedException.ThrowIf(ledger.Wrong);
    }

    /// <summary>The history of a scenario that records one.</summary>
    public History? History { get; set; }

    /// <summary>Messages delivered or operations done: a run in which little happens proves little.</summary>
    public long Work { get; set; }

    public long Views { get; set; }

    /// <summary>Members that left on purpose.</summary>
    public long Left { get; set; }

    /// <summary>The part of its work that is not judged: reads that saw what was then lost with the member that showed it.</summary>
    public long Unjudged { get; set; }

    /// <summary>Whether the faults took what the guarantees need: a majority of the Oracle, all initialised members of a shard. Such a run is judged for safety only.</summary>
    public bool Lost { get; set; }
}
