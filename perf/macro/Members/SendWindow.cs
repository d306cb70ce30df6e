using System.Diagnostics.CodeAnalysis;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// Sends under way, at most a fixed number. An ordered send completes when it was handled here, so a sender that awaited each would have only one under way. Sends complete in
/// the order of the calls, so the oldest is the one to wait for.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each is stored once and consumed once.")]
internal sealed class SendWindow(int size)
{
    private readonly ValueTask[] _underWay = new ValueTask[size];
    private int _at;

    /// <summary>Waits for the oldest send, whose place the next <see cref="Add"/> takes.</summary>
    public ValueTask RoomAsync()
    {
        var oldest = _underWay[_at];
        _underWay[_at] = default;
        return oldest;
    }

    public void Add(ValueTask send)
    {
        _underWay[_at] = send;
        _at = (_at + 1) % _underWay.Length;
    }

    public async Task DrainAsync()
    {
        for (int i = 0; i < _underWay.Length; i++)
        {
            await RoomAsync();
            Add(default);
        }
    }
}
