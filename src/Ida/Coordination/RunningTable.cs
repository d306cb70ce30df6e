using Ida.Ordering;

namespace Ida.Coordination;

/// <summary>The attempts that a coordinator drives. Answers to one attempt come one after the other, and each looks it up several times: so the last is cached.</summary>
internal sealed class RunningTable
{
    private readonly Dictionary<OpKey, RunningOp> _byKey = [];
    private RunningOp? _last;

    public IReadOnlyDictionary<OpKey, RunningOp> All => _byKey;

    public RunningOp? Find(in OpKey key) => _last is { } last && last.Key == key ? last : _last = _byKey.GetValueOrDefault(key);

    public void Add(RunningOp running)
    {
        _byKey.Add(running.Key, running);
        _last = running;
    }

    public void Remove(RunningOp running)
    {
        _byKey.Remove(running.Key);
        _last = null;
    }

    public void Clear()
    {
        _byKey.Clear();
        _last = null;
    }
}
