using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups;

/// <summary>One reader of <see cref="Group.Views"/>: what it has not taken yet, bounded. Everything under the lock of the group; who waits goes on outside of it.</summary>
internal sealed class ViewReader(int bound)
{
    private readonly Queue<View> _views = new();
    private TaskCompletionSource? _waiting;
    private ulong _last;
    private bool _over;
    private Exception? _error;

    /// <summary>Adds a view behind those it has; the oldest goes when there are too many.</summary>
    public void Add(View view)
    {
        if (_over || view.Id <= _last) return;
        _last = view.Id;
        if (_views.Count == bound) _views.Dequeue();
        _views.Enqueue(view);
    }

    /// <summary>No view will follow.</summary>
    public void End(Exception? error) => (_over, _error) = (true, error);

    /// <summary>Whom to wake, after the lock is released: there is news for it.</summary>
    public TaskCompletionSource? TakeWaiting()
    {
        var waiting = _waiting;
        _waiting = null;
        return waiting;
    }

    /// <summary>The next view; without one the news to wait for, or neither at the end. Throws the error that ended the group when all views are taken.</summary>
    public View? Take(out Task? news)
    {
        news = null;
        if (_views.TryDequeue(out var view)) return view;
        if (_error is { } error) throw ISharedError.ForCall(error);
        if (!_over) news = (_waiting ??= new()).Task;
        return null;
    }
}
