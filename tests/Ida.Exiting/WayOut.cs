using GroupCore.Groups;
using GroupCore.Runtime;

namespace Ida.Exiting;

/// <summary>A member that begins a new life when it is excluded, which is soon when it hears of nobody. The life that ends faults on its way out. The log is printed.</summary>
internal static class WayOut
{
    public const string Happens = "a fault on the way out";

    public static IdaNodeOptions Of(IdaNodeOptions options) => options with
    {
        OnExcluded = ExclusionPolicy.Rejoin,
        Membership = new() { LeaseDuration = TimeSpan.FromMilliseconds(200), IsolationTimeout = TimeSpan.FromMilliseconds(500), ExclusionTimeout = TimeSpan.FromMilliseconds(500) },
        LoggerFactory = new PrintedLog(),
    };

    public static void Fault(Group group) => group.Protocol.Node.Post(new Listening(group.Protocol.Node));

    private sealed class Listening(INode node) : NodeCommand, IStopListener
    {
        public override void Run() => node.AtStop(this);

        public override void Abandon(Exception reason)
        {
        }

        public void OnStop(Exception reason) => node.Fail(new InvalidDataException("the fault on the way out"));
    }
}
