using GroupCore.Basics;

namespace Ida;

/// <summary>This process is no longer a member of the DHT: it left, closed it, or was excluded.</summary>
public sealed class NotDhtMemberException(string message, Exception? inner = null) : DhtException(message, inner), ISharedError
{
    Exception ISharedError.Copy() => new NotDhtMemberException(Message, InnerException);
}
