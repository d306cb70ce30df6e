using GroupCore.Runtime;

namespace Ida.Nodes;

/// <summary>A call of <see cref="IdaNodeOptions.OnRejoined"/>, which belongs to one life: its token ends with that life.</summary>
internal sealed class RejoinCall(IdaNode node, NodeLife life, Func<IdaNode, CancellationToken, Task> rejoined, CancellationToken untilStopped) : ICompletion
{
    // The calls of two lives do not meet, unless the earlier one does not listen to its token.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);
    private readonly TaskCompletionSource<Exception?> _ended = new();
    private readonly CancellationTokenSource _over = CancellationTokenSource.CreateLinkedTokenSource(untilStopped);

    /// <summary>The life that it is called for.</summary>
    public NodeLife Life => life;

    /// <summary>Ends with the call: with what it threw, or null.</summary>
    public Task<Exception?> Failure => _ended.Task;

    public void Run() => _ = CallAsync();

    /// <summary>Its life is over: lets it end, but not for longer than the grace.</summary>
    public async Task EndAsync(ILifeHost host)
    {
        _ = IdaNode.CancelAsync(_over);
        try
        {
            await host.WithinAsync(_ended.Task, Grace).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // It goes on by itself.
        }
    }

    private async Task CallAsync()
    {
        Exception? failure = null;
        try
        {
            await rejoined(node, _over.Token).ConfigureAwait(false);
        }
        catch (Exception thrown)
        {
            failure = thrown;
        }
        _ended.SetResult(failure);
    }
}
