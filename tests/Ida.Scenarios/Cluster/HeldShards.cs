namespace Ida.Scenarios;

/// <summary>
/// Judges reports that a shard is lost. No member may be told so of a shard that it holds all of itself and takes along into the view said to have lost it (dht-view-change.md).
/// Members that are leaving are exempt. Look after each step of a simulation.
/// </summary>
internal sealed class HeldShards
{
    private readonly List<(string Who, Func<HeldShard> Look, HeldShard Before)> _members = [];
    private string? _wrong;

    /// <summary>How many members were told that a shard is lost.</summary>
    public int Told { get; private set; }

    public void Watch(string who, Func<HeldShard> look)
    {
        ArgumentNullException.ThrowIfNull(look);
        _members.Add((who, look, look()));
    }

    /// <summary>What is wrong; null for nothing.</summary>
    public string? Look()
    {
        for (int i = _members.Count - 1; i >= 0; i--)
        {
            var (who, look, before) = _members[i];
            var now = look();
            if (now.Ended is null)
            {
                if (now != before) _members[i] = (who, look, now);
                continue;
            }
            _members.RemoveAt(i);
            if (now.Ended is not ShardDepopulatedException lost) continue;
            Told++;
            if (before is { IsInitialised: true, IsLeaving: false } && before.Shard == lost.Shard) _wrong ??= $"{who} was told that shard {lost.Shard} has no initialised member in view {lost.View}, and it held all of it itself.";
        }
        return _wrong;
    }
}
