using GroupCore.Runtime;

namespace Ida.Coordination;

/// <summary>The DHT of a member, as the operations of its callers see it.</summary>
internal interface IOperationTaker
{
    INode Node { get; }

    DhtCounters Counters { get; }

    /// <summary>The name of the group, for traces of operations.</summary>
    string GroupName { get; }

    /// <summary>Takes an operation; on the loop.</summary>
    void Start(ClientOperation op);

    /// <summary>Its caller gives up; on the loop.</summary>
    void Cancel(ClientOperation op);
}
