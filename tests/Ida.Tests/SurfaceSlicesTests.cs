using Ida.Testing.Checking;

namespace Ida.Tests;

/// <summary>The judge of snapshots in random schedules finds what is wrong with them.</summary>
public sealed class SurfaceSlicesTests
{
    private readonly DhtWorld _world = new();
    private readonly SurfaceSlices _slices = new();
    private readonly HistoryRecorder _recorder = new();

    public SurfaceSlicesTests()
    {
        _world.Declare = new SurfaceResolvers(_world, new(1), new(SurfaceNames.All), static _ => { }).Declare;
        _world.Found(4);
    }

    [Fact]
    public async Task A_slice_of_what_was_put_is_right()
    {
        var put = await PutAsync("a0", "b0");
        _slices.Add(put.Operation, put.Told, _world.Members[0]);
        Show(told: _slices.Told);
        Assert.Null(_slices.Wrong(_recorder.ToHistory(), static _ => true));
    }

    [Fact]
    public async Task A_whole_slice_has_what_its_member_told_its_own_caller_before()
    {
        var put = await PutAsync("a0");
        _slices.Add(put.Operation, new(true, null, new([put.Told.Versions[0] + 1])), _world.Members[0]);
        Show(told: 0);
        Assert.Contains("had told its own caller", Assert.Throws<ScenarioFailedException>(() => Show(told: _slices.Told)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_put_of_two_keys_shows_in_both_or_in_none()
    {
        await PutAsync("b0");
        var put = await PutAsync("a0");
        var both = new SurfaceOperation("both", ConsistencyLevel.Strict);
        both.Parts.AddRange([put.Operation.Parts[0], put.Operation.Parts[0] with { Key = "b0" }]);
        _slices.Add(both, new(true, null, new([put.Told.Versions[0], put.Told.Versions[0]])), by: null);
        Show(told: 0);
        Assert.Contains("a put of both in m:a0 and not in m:b0", _slices.Wrong(_recorder.ToHistory(), static _ => true), StringComparison.Ordinal);
        // What only an excluded member holds, the others need not have.
        Assert.Null(_slices.Wrong(_recorder.ToHistory(), static _ => false));
    }

    [Fact]
    public async Task A_value_that_nobody_has_written_is_found()
    {
        await PutAsync("a0");
        Show(told: 0);
        Assert.Contains("which nobody has appended", _slices.Wrong(new HistoryRecorder().ToHistory(), static _ => true), StringComparison.Ordinal);
    }

    private void Show(int told) => _slices.Add(_world.Members[0], 0, told, DhtWorld.Slice(_world.Members[0]));

    private async Task<(SurfaceOperation Operation, SurfaceTold Told)> PutAsync(params string[] keys)
    {
        var operation = new SurfaceOperation("c", ConsistencyLevel.Strict) { Calls = 1, Through = 0 };
        foreach (string key in keys) operation.Parts.Add(new(PartKind.Append, SurfaceDriver.Lists[0], key, _slices.Told + 7 + key[0], 0));
        operation.Invoke(_recorder, 0);
        var result = await _world.EndAsync(SurfaceDriver.List(_world.Members[0].Dht, SurfaceDriver.Lists[0]).MergeAsync(operation.Parts.Select(static part => KeyValuePair.Create(part.Key, part.Element))));
        var told = new SurfaceTold(true, result.Operation, result.Versions);
        operation.Ok(_recorder, told, new(new(1)), new());
        _world.Settle();
        return (operation, told);
    }
}
