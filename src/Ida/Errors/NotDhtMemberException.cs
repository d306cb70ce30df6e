using GroupCore.Basics;

namespace Ida;

/// <summary>This process is no longer a member of the DHT: it left, closed it, or was excluded.</summary>
public sealed class NotDhtMemberException(string message, Exception? inner = null) : DhtLostException(message, inner), ISharedError
{
    Exception ISharedError.Copy() => Carried(new NotDhtMemberException(Message, InnerException));
}
