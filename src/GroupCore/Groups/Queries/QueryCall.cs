using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Queries;

/// <summary>A caller that waits for answers, which are deserialized on the worker that completes the call.</summary>
internal sealed class QueryCall<TReply>(INode node, IPayloadSerializer serializer) : IQueryResult, ICompletion
{
    private readonly TaskCompletionSource<IReadOnlyList<MemberReply<TReply>>> _done = new();
    private List<(MemberRef From, byte[] Bytes)>? _values;
    private Exception? _error;

    public Task<IReadOnlyList<MemberReply<TReply>>> Task => _done.Task;

    public void Succeed(List<(MemberRef From, byte[] Bytes)> values)
    {
        _values = values;
        node.Complete(this);
    }

    public void Fail(Exception error)
    {
        _error = error;
        node.Complete(this);
    }

    public void Run()
    {
        if (_error is not null)
        {
            End(ISharedError.ForCall(_error));
            return;
        }
        try
        {
            var replies = new List<MemberReply<TReply>>(_values!.Count);
            foreach (var (from, bytes) in _values) replies.Add(new(from, serializer.Deserialize<TReply>(bytes)));
            _done.TrySetResult(replies);
        }
        catch (Exception error)
        {
            End(error);
        }
    }

    private void End(Exception error)
    {
        _done.TrySetException(error);
        // Marks the error as observed: a caller whose token has fired does not await the task any more.
        _ = _done.Task.Exception;
    }
}
