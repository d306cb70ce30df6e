using GroupCore.Basics;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <inheritdoc cref="ILayerAttachment"/>
internal sealed class LayerAttachment<TLayer>(INode node, Func<IGroupPort, TLayer> create) : ILayerAttachment
    where TLayer : IGroupLayer
{
    private readonly TaskCompletionSource<TLayer> _done = new();
    private TLayer? _layer;
    private Exception? _error;

    public Task<TLayer> Task => _done.Task;

    public IGroupLayer? Create(IGroupPort port)
    {
        try
        {
            return _layer = create(port);
        }
        catch (Exception error)
        {
            Fail(error);
            return null;
        }
    }

    public void Fail(Exception reason)
    {
        _error = reason;
        node.Complete(this);
    }

    public void Run()
    {
        if (_error is null) _done.TrySetResult(_layer!);
        else _done.TrySetException(ISharedError.ForCall(_error));
        // Marks the error as observed: a caller whose token has fired does not await the task any more.
        _ = Task.Exception;
    }
}
