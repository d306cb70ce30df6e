using GroupCore.Basics;
using GroupCore.Runtime;

namespace Ida;

/// <summary>A rare question to the loop; its answer is a task that completes outside of the loop.</summary>
internal abstract class LoopCommand<T>(INode node) : NodeCommand, ICompletion
{
    private readonly TaskCompletionSource<T> _answer = new();
    private T? _result;
    private Exception? _error;

    public Task<T> Task => _answer.Task;

    public override void Run()
    {
        try
        {
            _result = Ask();
        }
        catch (Exception error)
        {
            _error = error;
        }
        node.Complete(this);
    }

    /// <summary>Answers a question that took several turns.</summary>
    public void Answer(T result)
    {
        _result = result;
        node.Complete(this);
    }

    /// <summary>There will be no answer.</summary>
    public void Fail(Exception reason)
    {
        _error = reason;
        node.Complete(this);
    }

    void ICompletion.Run()
    {
        if (_error is not { } error) _answer.TrySetResult(_result!);
        // A caller that gave up does not observe the exception.
        else if (_answer.TrySetException(ISharedError.ForCall(error))) _ = _answer.Task.Exception;
    }

    public override void Abandon(Exception reason)
    {
        _error = reason is NodeFaultedException ? reason : new NotDhtMemberException("The node has stopped.", reason);
        node.Complete(this);
    }

    protected abstract T Ask();
}
