using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups;

/// <summary>A caller that joins a group, until the join has begun.</summary>
internal sealed class JoinCall(GroupHost host, string name, GroupOptions options, HandlerTable table) : NodeCommand, ICompletion
{
    private readonly TaskCompletionSource<GroupProtocol> _started = new();
    private GroupProtocol? _group;
    private Exception? _error;

    public Task<GroupProtocol> Task => _started.Task;

    public override void Run()
    {
        try
        {
            _group = host.Start(name, options, table);
        }
        catch (InvalidOperationException error)
        {
            _error = error;
        }
        host.Node.Complete(this);
    }

    public override void Abandon(Exception reason)
    {
        _error = reason;
        host.Node.Complete(this);
    }

    void ICompletion.Run()
    {
        if (_error is null) _started.TrySetResult(_group!);
        else _started.TrySetException(_error);
    }
}
