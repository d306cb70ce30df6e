namespace Ida;

/// <summary>What happens to a member's part in the DHT, told inside a turn.</summary>
internal interface IDhtEvents
{
    /// <summary>The member has a slot in the view that was installed.</summary>
    void OnServing();

    /// <summary>Whether the member has the complete state of its shard; told after each install, and when it has received it.</summary>
    void OnFull(bool full);

    /// <summary>Nothing more will be served here.</summary>
    void OnOver(Exception reason);
}
