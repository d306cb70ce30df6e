using System.Net;
using GroupCore.Runtime;

namespace Oracle;

/// <summary>Says for which addresses a host name stands, without making a turn wait for it.</summary>
internal interface INameService
{
    /// <summary>
    /// Looks the name up, and calls <paramref name="found"/> once in a later turn of the node, within a bounded time: with the addresses, or with none and a reason if the name
    /// stands for no address or that could not be found out.
    /// </summary>
    void Resolve(INode node, string host, Action<IReadOnlyList<IPAddress>, string> found);
}
