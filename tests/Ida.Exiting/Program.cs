using GroupCore.Runtime;
using Ida;
using Ida.Exiting;

// A member that ends its process when it is excluded or faults. Arguments: the seed, then what happens to the member.
string happens = args[1];
bool isListened = Listeners.TryAdd(happens);
var options = new IdaNodeOptions { Cluster = "exiting", Seeds = [args[0]], Listen = "127.0.0.1:0", OnExcluded = ExclusionPolicy.Exit, OnFault = ExclusionPolicy.Exit };
var node = await IdaNode.StartAsync(happens == WayOut.Happens ? WayOut.Of(options) : options);
var group = await node.JoinAsync("g");
if (happens == WayOut.Happens) WayOut.Fault(group);
if (isListened) await Listeners.WorkAsync(node);
Console.WriteLine(happens == "listeners throw" ? $"ready, {Listeners.Instruments()} meters" : "ready");
Console.ReadLine();
if (happens == "nobody reads") Stderr.Fill();
group.Protocol.Node.Post(new Throwing(happens == "unspeakable" ? new UnspeakableException() : new InvalidDataException("the fault")));
await Task.Delay(Timeout.Infinite);

namespace Ida.Exiting
{
    internal sealed class Throwing(Exception error) : NodeCommand
    {
        public override void Run() => throw error;

        public override void Abandon(Exception reason)
        {
        }
    }

    internal sealed class UnspeakableException : Exception
    {
        public override string Message => throw new InvalidOperationException("unspeakable");
    }

    internal static class Stderr
    {
        private const int PipeBytes = 64 << 10;

        /// <summary>Writes until nothing more is taken; a pipe takes 64 KiB.</summary>
        public static void Fill()
        {
            using var full = new ManualResetEventSlim();
            new Thread(() =>
            {
                string line = new('x', 1023);
                for (int written = 0; ; written += line.Length + 1)
                {
                    if (written == PipeBytes) full.Set();
                    Console.Error.WriteLine(line);
                }
            }) { IsBackground = true }.Start();
            full.Wait();
        }
    }
}
