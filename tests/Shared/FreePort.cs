using System.Net;
using System.Net.Sockets;

namespace Ida.Tests.Shared;

/// <summary>
/// Addresses of the loopback that a program can be told before it listens. They are below the ports that the system itself gives out (32,768 and more on Linux), so no socket
/// made meanwhile, here or in another process, gets one.
/// </summary>
internal static class FreePort
{
    private const int First = 20_000, Count = 10_000;

    public static string Address()
    {
        while (true)
        {
            var address = new IPEndPoint(IPAddress.Loopback, First + Random.Shared.Next(Count));
            using var probe = new TcpListener(address);
            try
            {
                probe.Start();
                return address.ToString();
            }
            catch (SocketException)
            {
                // The port is taken.
            }
        }
    }
}
