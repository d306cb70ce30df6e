using Ida.Wire;

namespace Ida.Tests;

/// <summary>A member that is asked again and again how a put ended, over a link that does not take the answers.</summary>
public sealed class RepeatedEndTests
{
    private const int Issuer = 0, Asker = 1, Keys = 3_000;

    [Fact]
    public async Task R_results_of_puts_that_are_asked_for_wait_for_room()
    {
        var world = DhtWorld.Founded(4);
        var (issuer, asker) = (world.Members[Issuer], world.Members[Asker]);
        var map = issuer.Dht.Map<string, long>("longs");
        using var cancellation = new CancellationTokenSource();
        KeyValuePair<string, long>[] pairs = [.. Enumerable.Range(0, Keys).Select(static i => KeyValuePair.Create($"{i}_0", 1L))];
        var put = map.PutAsync(pairs, cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        await cancellation.CancelAsync();
        world.RunUntil(() => put.IsCompleted, "The end of the call");
        var id = (await Assert.ThrowsAsync<OutcomeUnknownException>(() => put)).Operation;
        world.Settle();
        // Replicas are told that the put's outcome is known.
        var next = map.PutAsync("x_0", 1L).AsTask();
        world.RunUntil(() => next.IsCompletedSuccessfully, "The next put");
        world.Settle();
        world.BulkBytes = 5_000;
        var questions = new List<HarnessFrame>();
        int answers = 0;
        world.AtSend = (from, _, frame) =>
        {
            if (from == asker && frame.Type == DhtFrame.AskEnd) questions.Add(frame);
            if (from == issuer && frame.Type == DhtFrame.End) answers++;
        };
        var retry = asker.Dht.Map<string, long>("longs").PutAsync(pairs, new() { Operation = id }).AsTask();
        world.Poke();
        var question = Assert.Single(questions);
        for (int i = 0; i < 100; i++) issuer.Deliver(question);
        // As much as there was room for.
        Assert.Equal(1, answers);
        Assert.Null(world.Overfilled);
        // Each answer comes when there is room for it.
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal(Keys, (await retry).Versions.Count);
        Assert.Null(world.Overfilled);
    }
}
