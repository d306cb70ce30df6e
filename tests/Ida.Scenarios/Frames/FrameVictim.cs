using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>One honest node under hostile frames, with its group and its part of the DHT.</summary>
internal sealed class FrameVictim(IdaNode node, OpenLoopHost host, Group group, Dht dht, MarkLog marks)
{
    public IdaNode Node => node;

    public NodeLoop Loop => host.Loop;

    public Group Group => group;

    public Dht Dht => dht;

    /// <summary>The numbers that came in total order.</summary>
    public MarkLog Marks => marks;

    public long Refused
    {
        get
        {
            long sum = 0;
            foreach (var reason in Enum.GetValues<RefusalReason>()) sum += node.Counters.Refused(reason);
            return sum;
        }
    }
}
