using GroupCore.Basics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups;

/// <summary>A caller's request to join a group, until the join has begun.</summary>
internal sealed class JoinCall : NodeCommand, ICompletion, ITimerTarget
{
    private readonly TaskCompletionSource<Group> _started = new();
    private readonly GroupHost _host;
    private Group? _group;
    private Exception? _error;
    private TimerHandle _timer;

    public JoinCall(GroupHost host, string name, GroupOptions options, HandlerTable table)
    {
        (_host, Name, Options, Table) = (host, name, options, table);
        Undo = new(TakeBack);
    }

    public string Name { get; }

    public GroupOptions Options { get; }

    public HandlerTable Table { get; }

    /// <summary>Undoes the join, however far it is.</summary>
    public CallCommand Undo { get; }

    public Task<Group> Task => _started.Task;

    public override void Run()
    {
        try
        {
            _group = _host.Start(this);
            if (_group is null)
            {
                // Not the turn's time: the process may have been frozen between the start of the turn and the call.
                _timer = _host.Node.SetTimer(_host.Node.Clock() + _host.JoinNanoseconds, this, 0);
                return;
            }
            _host.Node.CancelTimer(_timer);
        }
        catch (InvalidOperationException error)
        {
            _error = error;
        }
        _host.Node.Complete(this);
    }

    public override void Abandon(Exception reason)
    {
        _error = reason;
        _host.Node.Complete(this);
    }

    /// <summary>The earlier membership of this process did not end in time.</summary>
    void ITimerTarget.OnTimer(long token)
    {
        if (!_host.Undo(this)) return;
        _error = new JoinTimeoutException(Name, _host.Options.JoinTimeout, "the view change that ends this process's earlier membership");
        _host.Node.Complete(this);
    }

    private void TakeBack()
    {
        _host.Undo(this);
        _host.Node.CancelTimer(_timer);
        _group?.Protocol.AbandonJoin();
    }

    void ICompletion.Run()
    {
        if (_error is null) _started.TrySetResult(_group!);
        else _started.TrySetException(ISharedError.ForCall(_error));
        // Marks the error as observed: a caller whose token has fired does not await the task any more.
        _ = Task.Exception;
    }
}
