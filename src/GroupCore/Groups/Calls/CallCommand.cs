using GroupCore.Runtime;

namespace GroupCore.Groups.Calls;

/// <summary>A rare request of a caller (leave, FlushAsync, attach, query): a closure is fine here.</summary>
internal sealed class CallCommand(Action run, Action<Exception>? abandon = null) : NodeCommand
{
    public override void Run() => run();

    public override void Abandon(Exception reason) => abandon?.Invoke(reason);
}
