using System.Collections.Concurrent;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>
/// One thread that starts all members and lives as long as the run: the kernel ends a member with the thread that started it, and a thread
/// of the pool ends when it pleases.
/// </summary>
internal sealed class Starter : IDisposable
{
    private readonly BlockingCollection<(MemberPlace Place, TaskCompletionSource<MemberProcess> Started)> _wanted = [];
    private readonly Thread _thread;

    public Starter()
    {
        _thread = new(Run) { IsBackground = true, Name = "starts members" };
        _thread.Start();
    }

    public MemberProcess Start(MemberPlace place)
    {
        var started = new TaskCompletionSource<MemberProcess>();
        _wanted.Add((place, started));
        return started.Task.GetAwaiter().GetResult();
    }

    public void Dispose()
    {
        _wanted.CompleteAdding();
        _thread.Join();
        _wanted.Dispose();
    }

    private void Run()
    {
        foreach (var (place, started) in _wanted.GetConsumingEnumerable())
        {
            try
            {
                started.SetResult(MemberProcess.Start(place));
            }
            catch (Exception error)
            {
                started.SetException(error);
            }
        }
    }
}
