using GroupCore.Runtime;

namespace Ida;

/// <summary>A rare question to the loop, answered by a task.</summary>
internal abstract class LoopCommand<T> : NodeCommand
{
    private readonly TaskCompletionSource<T> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<T> Task => _answer.Task;

    public override void Run()
    {
        try
        {
            _answer.TrySetResult(Ask());
        }
        catch (Exception error)
        {
            _answer.TrySetException(error);
        }
    }

    public override void Abandon(Exception reason) => _answer.TrySetException(reason);

    protected abstract T Ask();
}
