using GroupCore.Runtime;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// One caller. Either an async method that awaits one operation after the other, as a program on this library would (T threads with D operations each under way are T · D such
/// methods), or a thread that blocks for each operation, as behind a synchronous interface.
/// </summary>
internal sealed class Lane
{
    private readonly Store _store;
    private readonly RunOptions _options;
    private readonly Window _window;
    private readonly Timeline? _timeline;
    private readonly Prng _random;
    private readonly long[] _keys;
    private readonly ulong[] _known;
    private readonly KeyValuePair<long, byte[]?>[] _pairs;
    private readonly ZipfKeys? _zipf;
    private ulong _stamp;

    public Lane(Store store, RunOptions options, Window window, Timeline? timeline, ulong seed, ZipfKeys? zipf)
    {
        _zipf = zipf;
        (_store, _options, _window, _timeline, _random, _stamp) = (store, options, window, timeline, new(seed), seed << 40);
        (_keys, _known) = (new long[options.Keys], new ulong[options.Keys]);
        _pairs = [.. _keys.Select(key => KeyValuePair.Create(key, (byte[]?)new byte[options.Value]))];
    }

    public Histogram Gets { get; } = new();

    public Histogram Puts { get; } = new();

    public long Errors { get; private set; }

    public string FirstError { get; private set; } = "";

    /// <summary>Runs a closed loop from the start of the load to the end of the window.</summary>
    public async Task RunAsync()
    {
        await Clock.UntilAsync(_window.Start);
        for (long began; (began = Clock.Now) < _window.Until;)
        {
            if (!await TryOnceAsync(began)) await Task.Delay(1);
        }
    }

    /// <summary>The same loop on a thread that blocks for each operation.</summary>
    public void RunBlocking()
    {
        Clock.SleepUntil(_window.Start);
        for (long began; (began = Clock.Now) < _window.Until;)
        {
            var once = TryOnceAsync(began);
            if (!(once.IsCompleted ? once.GetAwaiter().GetResult() : once.AsTask().GetAwaiter().GetResult())) Thread.Sleep(1);
        }
    }

    /// <summary>Runs one operation, whose latency counts from <paramref name="began"/>; false if it failed.</summary>
    public async ValueTask<bool> TryOnceAsync(long began)
    {
        bool put = _random.Next(100) < _options.PercentPuts;
        DrawKeys();
        try
        {
            if (_options.Command == "multikey") await ManyAsync(put);
            else if (put)
            {
                long key = _keys[0];
                FilledBytes.Write(_pairs[0].Value, (ulong)key, ++_stamp);
                var result = await _store.Map.PutAsync(key, _pairs[0].Value);
                _store.Acknowledge(key, result.Versions[0]);
            }
            else
            {
                ulong known = _store.Known(_keys[0]);
                _store.Check(_keys[0], await _store.Map.GetAsync(_keys[0]), known);
            }
            Succeeded(put, began);
            return true;
        }
        catch (Exception error)
        {
            Errors++;
            if (FirstError.Length == 0) FirstError = $"{error.GetType().Name}: {error.Message}".ReplaceLineEndings(" ");
            return false;
        }
    }

    private async ValueTask ManyAsync(bool put)
    {
        if (put)
        {
            _stamp++;
            for (int i = 0; i < _keys.Length; i++)
            {
                _pairs[i] = KeyValuePair.Create(_keys[i], _pairs[i].Value);
                FilledBytes.Write(_pairs[i].Value, (ulong)_keys[i], _stamp);
            }
            var result = await _store.Map.PutAsync(_pairs);
            for (int i = 0; i < _keys.Length; i++) _store.Acknowledge(_keys[i], result.Versions[i]);
            return;
        }
        for (int i = 0; i < _keys.Length; i++) _known[i] = _store.Known(_keys[i]);
        var found = await _store.Map.GetAsync(_keys);
        for (int i = 0; i < _keys.Length; i++) _store.Check(_keys[i], found.Find(_keys[i]), _known[i]);
    }

    private void DrawKeys()
    {
        for (int i = 0; i < _keys.Length; i++)
        {
            do _keys[i] = _zipf?.Draw(_random) ?? _random.Next(_options.Keyspace);
            while (_keys.AsSpan(0, i).Contains(_keys[i]));
        }
    }

    private void Succeeded(bool put, long began)
    {
        long now = Clock.Now;
        _timeline?.Count(now - _window.Start);
        if (_window.Contains(_options.Rate > 0 ? began : now)) (put ? Puts : Gets).Record(now - began);
    }
}
