using GroupCore.Basics;

namespace Ida;

/// <summary>Options or declarations are impossible, or do not fit those of the other members.</summary>
public sealed class DhtConfigurationException(string message) : DhtMisuseException(message), ISharedError
{
    Exception ISharedError.Copy() => Carried(new DhtConfigurationException(Message));
}
