using GroupCore.Runtime;

namespace Ida.Testing;

internal sealed class ActionCommand(Action action) : NodeCommand
{
    public override void Run() => action();

    public override void Abandon(Exception reason)
    {
        // Nobody waits for it.
    }
}
