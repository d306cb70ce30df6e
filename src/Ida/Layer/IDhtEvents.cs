namespace Ida;

/// <summary>Events of a member's part in the DHT, raised inside a turn.</summary>
internal interface IDhtEvents
{
    /// <summary>The member has a slot in the view that was installed.</summary>
    void OnServing();

    /// <summary>Whether the member has the complete state of its shard; raised after each install, and when it has received the state.</summary>
    void OnInitialised(bool initialised);

    /// <summary>The DHT has ended here.</summary>
    void OnOver(Exception reason);
}
