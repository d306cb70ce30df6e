using Ida.Shared;

namespace Ida.Coordination;

/// <summary>The attempts that a coordinator drives. Answers to one attempt come one after the other, and each looks the attempt up several times: so the last one is cached.</summary>
internal sealed class CoordinationTable
{
    private readonly Dictionary<AttemptId, CoordinatedOperation> _byKey = [];
    private CoordinatedOperation? _last;

    public IReadOnlyDictionary<AttemptId, CoordinatedOperation> All => _byKey;

    public CoordinatedOperation? Find(in AttemptId key) => _last is { } last && last.Key == key ? last : _last = _byKey.GetValueOrDefault(key);

    public void Add(CoordinatedOperation running)
    {
        _byKey.Add(running.Key, running);
        _last = running;
    }

    public void Remove(CoordinatedOperation running)
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
