namespace Ida;

/// <summary>What happens to a member's part in the DHT, told inside a turn.</summary>
internal interface IDhtEvents
{
    /// <summary>Accepted; too few members yet to found the DHT.</summary>
    void OnWaiting();

    /// <summary>The member has a slot in the view that was installed.</summary>
    void OnServing();

    /// <summary>Nothing more will be served here.</summary>
    void OnOver(Exception reason);
}
