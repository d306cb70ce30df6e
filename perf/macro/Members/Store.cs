using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// The map under load, and for every key the newest version that a put of this process got. A strict read that begins after that put has returned must not be older.
/// </summary>
internal sealed class Store(DhtMap<long, byte[]> map, RunOptions options)
{
    private readonly ulong[] _acknowledged = new ulong[options.Keyspace];
    private long _valueErrors, _staleReads, _missing, _lost;

    public DhtMap<long, byte[]> Map => map;

    /// <summary>Number of reads of values that nobody wrote to that key.</summary>
    public long ValueErrors => Volatile.Read(ref _valueErrors);

    /// <summary>Number of strict reads that missed a put.</summary>
    public long StaleReads => Volatile.Read(ref _staleReads);

    /// <summary>Number of keys without a value after the run.</summary>
    public long Missing => Volatile.Read(ref _missing);

    /// <summary>Number of keys that after the run are older than a put of this process that returned.</summary>
    public long Lost => Volatile.Read(ref _lost);

    /// <summary>The newest known version of a key. A read that begins now must show it or a newer one.</summary>
    public ulong Known(long key) => options.Strict ? Volatile.Read(ref _acknowledged[key]) : 0;

    public void Acknowledge(long key, ulong version)
    {
        ref ulong known = ref _acknowledged[key];
        for (ulong old = Volatile.Read(ref known); old < version;)
        {
            ulong seen = Interlocked.CompareExchange(ref known, version, old);
            if (seen == old) return;
            old = seen;
        }
    }

    /// <summary>Checks that every byte is what some put wrote to this key.</summary>
    public void Check(long key, in Entry<byte[]> read, ulong known)
    {
        if (!read.Found || read.Value.Length != options.Value || !FilledBytes.TryRead(read.Value, out ulong owner, out _) || owner != (ulong)key)
            Interlocked.Increment(ref _valueErrors);
        else if (read.Version < known) Interlocked.Increment(ref _staleReads);
    }

    public async ValueTask FillAsync(long key, byte[] bytes)
    {
        FilledBytes.Write(bytes, (ulong)key, 0);
        Acknowledge(key, (await map.PutAsync(key, bytes)).Versions[0]);
    }

    /// <summary>Like FillAsync, but records nothing here, so that only the map's content takes memory.</summary>
    public async ValueTask PutAsync(long key, byte[] bytes)
    {
        FilledBytes.Write(bytes, (ulong)key, 0);
        await map.PutAsync(key, bytes);
    }

    /// <summary>After the run, checks that the key is there, and not older than what was acknowledged to this process.</summary>
    public async ValueTask VerifyAsync(long key)
    {
        var found = await map.GetAsync(key);
        Check(key, found, 0);
        if (!found.Found) Interlocked.Increment(ref _missing);
        else if (found.Version < Volatile.Read(ref _acknowledged[key])) Interlocked.Increment(ref _lost);
    }
}
