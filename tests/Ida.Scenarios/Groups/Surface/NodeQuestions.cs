using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>Asks nodes for their descriptions at any time, also while they stop and when they have ended, and gives up at any time. Crashed nodes are not asked.</summary>
internal sealed class NodeQuestions(GroupSurface surface)
{
    // The answer comes between two things that the node does.
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(5);

    // Its own random numbers, so that what others draw does not depend on how often it asks.
    private readonly Prng _random = new(surface.Case.Seed ^ 0xDE5C);

    public void Begin() => surface.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(20, 700)), () =>
    {
        if (surface.IsOver) return;
        Ask(surface.Places[_random.Next(surface.Places.Count)]);
        Begin();
    });

    /// <summary>The program of a node has begun to end it.</summary>
    public void OnStop(GroupPlace place)
    {
        if (!_random.Chance(0.5)) return;
        surface.Drawn.Draw(GroupNames.DescribedAsItStops);
        Ask(place);
    }

    private void Ask(GroupPlace place)
    {
        // Nobody is there to be asked.
        if (place.IsStarting || place.HasCrashed(place.Member.Host)) return;
        var node = place.Member.Node;
        bool wasOver = node.Completion.IsCompleted;
        surface.Drawn.Draw(wasOver ? GroupNames.DescribedOver : GroupNames.Described);
        var timing = CallTiming.Draw(_random, surface.Drawn);
        var task = node.DescribeAsync(timing.Token).AsTask();
        surface.Open.Add(new(CallKind.Describe, "", place, task, surface.Simulation.Now)
        {
            Bound = s_bound, Timing = timing, EndsByToken = true,
            Judge = _ => !task.IsCompletedSuccessfully ? null : timing.Before ? "well, though its token was cancelled before" : NodeText.Wrong(node, wasOver, task.Result),
        });
    }
}
