using GroupCore.Basics;

namespace Ida;

/// <summary>The deadline passed while this process had no contact with the primary partition, or a view change was under way; the operation was not executed.</summary>
public sealed class ViewUnavailableException(string message) : DhtRetryLaterException(message), ISharedError
{
    Exception ISharedError.Copy() => Carried(new ViewUnavailableException(Message));
}
