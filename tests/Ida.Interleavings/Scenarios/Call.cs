using GroupCore.Runtime;
using GroupCore.Transport.Mesh;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>A command of a caller, with what it does in its turn. It must end only once.</summary>
internal sealed class Call(TcpMesh mesh, int caller, int number) : NodeCommand, ICompletion, ITimerTarget, IStopListener
{
    private bool _waits;
    private readonly Schedule _schedule = Lane.Current!.Schedule;

    public int Caller => caller;

    public int Number => number;

    public bool WantsTurn { get; init; }

    public bool Kept { get; init; }

    /// <summary>A timer completes it this many nanoseconds after its turn; 0: it is completed at once.</summary>
    public long After { get; init; }

    /// <summary>A frame goes out with it.</summary>
    public bool Sends { get; init; }

    /// <summary>A link ends with it.</summary>
    public bool EndsLink { get; init; }

    /// <summary>Its turn throws.</summary>
    public bool Throws { get; init; }

    /// <summary>What its caller does when it goes on.</summary>
    public Action? Then { get; init; }

    /// <summary>Called in its turn.</summary>
    public Action<Call>? OnRun { get; init; }

    public int Runs { get; private set; }

    public int Ends { get; private set; }

    public Exception? Error { get; private set; }

    internal override bool AtOnce => WantsTurn;

    internal override bool IsKept => Kept;

    public override void Run()
    {
        using var turn = mesh.Turn.Enter($"command {caller}.{number}");
        if (++Runs > 1) _schedule.Fail($"Command {caller}.{number} ran twice");
        OnRun?.Invoke(this);
        if (Throws) throw new InvalidDataException("on purpose");
        if (Sends) mesh.Send();
        if (EndsLink) mesh.EndLink();
        if (After == 0) mesh.Node.Complete(this);
        else mesh.Node.SetTimer(mesh.Node.Now + After, this, 0);
        _waits = After > 0;
    }

    public void OnTimer(long token)
    {
        using var turn = mesh.Turn.Enter($"timer {caller}.{number}");
        _waits = false;
        mesh.Node.Complete(this);
    }

    /// <summary>Does what a protocol does at a stop.</summary>
    public void OnStop(Exception reason)
    {
        if (_waits) Abandon(reason);
    }

    public override void Abandon(Exception reason)
    {
        Error = reason;
        mesh.Node.Complete(this);
    }

    /// <summary>Its poster was told that it will not run.</summary>
    public bool IsRefused { get; private set; }

    public void Refuse()
    {
        IsRefused = true;
        if (Runs > 0) _schedule.Fail($"Command {caller}.{number} was refused and ran");
        End();
    }

    void ICompletion.Run()
    {
        Explored.Fence($"completion {caller}.{number}");
        Then?.Invoke();
        End();
    }

    private void End()
    {
        if (++Ends > 1) _schedule.Fail($"Command {caller}.{number} ended twice");
    }
}
