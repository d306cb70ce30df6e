using GroupCore.Runtime;

namespace Ida.Testing;

/// <summary>
/// The host of a simulated node. Completions run inline after the turn, without a synchronization context, or later, if <see cref="SimulationOptions.MaxCompletionDelay"/> says
/// so or it was a caller's turn.
/// </summary>
internal sealed class SimHostPort(SimNode node) : IHostPort
{
    public long Clock() => node.LocalTime;

    public void Posted(NodeCommand command, bool kept)
    {
        if (!node.Simulation.OnOwnThread($"A call to {node.Name}") || node.TryBorrow(command, kept)) return;
        node.Rouse();
    }

    public void Wake()
    {
        if (node.Simulation.OnOwnThread($"A call to {node.Name}")) node.Rouse();
    }

    public void RunCompletions(List<ICompletion> completions)
    {
        for (int i = 0; i < completions.Count; i++)
        {
            int next = node.Simulation.Options.ShuffleCompletions ? node.Choose(i, completions.Count) : i;
            (completions[i], completions[next]) = (completions[next], completions[i]);
            if (!node.TryDelay(completions[i])) completions[i].Run();
        }
        node.EndDelays();
    }

    public void Resume(ICompletion work)
    {
        if (node.Simulation.OnOwnThread($"A completion of {node.Name}")) node.Resume(work);
    }
}
