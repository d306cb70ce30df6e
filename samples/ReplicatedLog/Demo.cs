using System.Net;
using System.Net.Sockets;

namespace ReplicatedLog;

/// <summary>Three members write at the same time, one is killed, another joins and gets the log. At the end all logs are compared.</summary>
internal static class Demo
{
    public static async Task<int> RunAsync()
    {
        string seed = FreeAddress();
        var members = new List<DemoMember>();
        // A member leaves when its input ends, so no member outlives this process, whatever happens to it.
        try
        {
            Tell("Three members:");
            foreach (string name in (string[])["ann", "bob", "cem"])
            {
                members.Add(new(name, seed));
                await members[^1].SeesAsync("type a line");
            }
            await AllInViewAsync(members, "ann, bob, cem");

            Tell("All three write at the same time, and see one order:");
            foreach (string text in (string[])["one", "two", "three"]) members.ForEach(m => m.Type(text));
            await AllSeeAsync(members, "   9  ");

            Tell("Bob is killed. Dora comes, and gets the log before her first view:");
            members[1].Kill();
            members.RemoveAt(1);
            await AllInViewAsync(members, "ann, cem");
            members.Add(new("dora", seed));
            await members[^1].SeesAsync("received the log of 9 lines");
            await AllInViewAsync(members, "ann, cem, dora");
            members.ForEach(m => m.Type("four"));
            await AllSeeAsync(members, "  12  ");

            Tell("Are all logs equal?");
            members[0].Type("?");
            var logs = new List<string>();
            for (int i = 0; i < members.Count; i++) logs.Add(await members[0].SeesAsync("has 12 lines"));
            bool equal = logs.Select(l => l[l.IndexOf("digest", StringComparison.Ordinal)..]).Distinct().Count() == 1;
            foreach (var member in members) await member.LeaveAsync();
            Tell(equal ? "Yes." : "No: that is a bug.");
            return equal ? 0 : 1;
        }
        catch (Exception e) when (e is OperationCanceledException or System.Threading.Channels.ChannelClosedException or TimeoutException)
        {
            Tell($"The demo did not go on: {e.Message}");
            return 1;
        }
        finally
        {
            members.ForEach(m => m.Dispose());
        }
    }

    private static async Task AllSeeAsync(List<DemoMember> members, string text) => await Task.WhenAll(members.Select(m => m.SeesAsync(text)));

    private static async Task AllInViewAsync(List<DemoMember> members, string view) => await Task.WhenAll(members.Select(m => m.IsInViewAsync(view)));

    private static void Tell(string text) => Console.WriteLine($"{Environment.NewLine}{text}");

    /// <summary>An address with a port that was free a moment ago. The first member takes it, since its address is the first seed.</summary>
    private static string FreeAddress()
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return probe.LocalEndPoint!.ToString()!;
    }
}
