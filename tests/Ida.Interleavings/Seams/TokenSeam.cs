using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>
/// A source of a token whose callbacks the schedule runs: at a cancellation the last registered first, on the thread that cancels, with points between them. As in the original,
/// giving a registration up waits for its callback if that runs on another thread (<c>Dispose</c>), or does not (<c>Unregister</c>).
/// </summary>
internal sealed class TokenSeam : IDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly List<Entry> _entries = [];

    public TokenSeam() => Explored.Of<Dictionary<CancellationToken, TokenSeam>>(typeof(TokenSeam))[_source.Token] = this;

    public CancellationToken Token => _source.Token;

    /// <summary>How many registrations have not been given up.</summary>
    public int Registered => _entries.Count;

    public static TokenSeam Of(CancellationToken token) => Explored.Of<Dictionary<CancellationToken, TokenSeam>>(typeof(TokenSeam))[token];

    public void Cancel()
    {
        Explored.Fence("cancel");
        _source.Cancel();
        while (true)
        {
            Explored.Fence("callbacks");
            if (_entries.Count == 0) return;
            var entry = _entries[^1];
            _entries.RemoveAt(_entries.Count - 1);
            entry.RunsOn = Lane.Current;
            entry.Callback(_source.Token);
            Explored.Fence("called");
            entry.RunsOn = null;
        }
    }

    public RegistrationSeam Register(Action<CancellationToken> callback)
    {
        Explored.Fence("register");
        if (_source.IsCancellationRequested)
        {
            callback(_source.Token);
            return default;
        }
        var entry = new Entry(callback);
        _entries.Add(entry);
        return new(this, entry);
    }

    public bool Unregister(Entry entry)
    {
        Explored.Fence("unregister");
        return _entries.Remove(entry);
    }

    public void Dispose(Entry entry)
    {
        if (!Unregister(entry) && entry.RunsOn != Lane.Current) Explored.Wait(() => entry.RunsOn is null, what: "callback");
    }

    public void Dispose() => _source.Dispose();

    internal sealed class Entry(Action<CancellationToken> callback)
    {
        public Lane? RunsOn;

        public Action<CancellationToken> Callback => callback;
    }
}
