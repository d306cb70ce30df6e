using GroupCore.Basics;

namespace Ida;

/// <summary>Options or registrations are impossible, or differ from those the DHT was founded with.</summary>
public sealed class DhtConfigurationException(string message) : DhtException(message), ISharedError
{
    Exception ISharedError.Copy() => new DhtConfigurationException(Message);
}
