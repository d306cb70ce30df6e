using System.Buffers;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// The DHT on a <see cref="LoopbackGroup"/>: everything is real from the caller to the group's frames, and nothing else allocates, so
/// that what each member allocates can be measured to the byte.
/// </summary>
internal sealed class LoopbackDht
{
    public LoopbackDht(int members, DhtOptions options, Action<DhtMaps>? declare = null)
    {
        Group = new(members);
        // Continuations run in place, and not on the pool as they would in a test runner's context.
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            var enabled = Group.Members.Select(m => m.Group.EnableDhtAsync(options, declare ?? DhtWorld.Maps).AsTask()).ToList();
            for (int i = 0; i < 10 && !enabled.TrueForAll(t => t.IsCompleted); i++) Group.Run();
            Dhts = [.. enabled.Select(t => t.IsCompleted ? t.Result : throw new InvalidOperationException("The DHT was not enabled."))];
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }

    public LoopbackGroup Group { get; }

    /// <summary>The members' parts, by rank.</summary>
    public IReadOnlyList<Dht> Dhts { get; }

    public int ShardOf(int rank) => Dhts[rank].Layer.State.Shard;

    /// <summary>A key of one shard, the <paramref name="number"/>th.</summary>
    public string KeyOf(int shard, int number = 0)
    {
        for (int i = 0; ; i++)
        {
            string key = $"key{i}";
            var bytes = new ArrayBufferWriter<byte>();
            CanonicalKey.Write(bytes, key);
            if (Dhts[0].Layer.Places.ShardOf(Dhts[0].Layer.Places.Hash(bytes.WrittenSpan)) == shard && number-- == 0) return key;
        }
    }
}
