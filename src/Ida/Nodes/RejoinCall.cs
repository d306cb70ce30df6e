using GroupCore.Runtime;

namespace Ida.Nodes;

/// <summary>A call of <see cref="IdaNodeOptions.OnRejoined"/>, which belongs to one life: its token ends with that life.</summary>
internal sealed class RejoinCall(IdaNode node, NodeLife life, Func<IdaNode, CancellationToken, Task> rejoined, CancellationToken untilStopped) : ICompletion
{
    // How long the next life waits for this call; a call that ignores its token may overlap with the next life's.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);
    private readonly TaskCompletionSource<Exception?> _ended = new();
    private readonly CancellationTokenSource _over = CancellationTokenSource.CreateLinkedTokenSource(untilStopped);

    /// <summary>The life that the call is for.</summary>
    public NodeLife Life => life;

    /// <summary>Ends with the call: with what it threw, or null.</summary>
    public Task<Exception?> Failure => _ended.Task;

    public void Run() => _ = CallAsync();

    /// <summary>Its life is over: cancels the token and waits until the call has ended, but not longer than the grace.</summary>
    public async Task EndAsync(ILifeHost host)
    {
        _ = IdaNode.CancelAsync(_over);
        try
        {
            await host.WithinAsync(_ended.Task, Grace).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // The call goes on by itself.
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
