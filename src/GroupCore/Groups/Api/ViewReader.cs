using GroupCore.Basics;
using GroupCore.Membership;

namespace GroupCore.Groups;

/// <summary>One reader of <see cref="Group.Views"/>: the views that it has not taken yet, bounded. Called under the group's lock; readers continue outside of it.</summary>
internal sealed class ViewReader(int bound)
{
    private readonly Queue<View> _views = new();
    private TaskCompletionSource? _waiting;
    private ulong _last;
    private bool _over;
    private Exception? _error;

    /// <summary>Adds a view behind those that wait; drops the oldest when there are too many.</summary>
    public void Add(View view)
    {
        if (_over || view.Id <= _last) return;
        _last = view.Id;
        if (_views.Count == bound) _views.Dequeue();
        _views.Enqueue(view);
    }

    /// <summary>No view will follow.</summary>
    public void End(Exception? error) => (_over, _error) = (true, error);

    /// <summary>The reader to wake when the lock is released, if it waits: there is news for it.</summary>
    public TaskCompletionSource? TakeWaiting()
    {
        var waiting = _waiting;
        _waiting = null;
        return waiting;
    }

    /// <summary>
    /// The next view. If there is none, <paramref name="news"/> is the task to wait for, or null at the end. Throws the error that ended the group when all views are taken.
    /// </summary>
    public View? Take(out Task? news)
    {
        news = null;
        if (_views.TryDequeue(out var view)) return view;
        if (_error is { } error) throw ISharedError.ForCall(error);
        if (!_over) news = (_waiting ??= new()).Task;
        return null;
    }
}
