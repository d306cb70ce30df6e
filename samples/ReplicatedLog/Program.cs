using System.CommandLine;

namespace ReplicatedLog;

/// <summary>Without options, a demo that starts its own member processes; with <c>--seed</c>, one member, for a terminal.</summary>
internal static class Program
{
    public static Task<int> Main(string[] args)
    {
        var seed = new Option<string>("--seed") { Description = "Run one member: its lines are what you type. The address, like 127.0.0.1:7701, is the same at all members", HelpName = "host:port" };
        var name = new Option<string>("--name") { Description = "Name of the member", HelpName = "name", DefaultValueFactory = _ => Environment.UserName };
        var root = new RootCommand("A replicated log: the same lines in the same order at every member, and at those that come later.") { seed, name };
        root.SetAction(parsed => parsed.GetValue(seed) is { } address ? MemberAsync(address, parsed.GetValue(name)!) : Demo.RunAsync());
        var parsed = root.Parse(args);
        if (parsed.Errors.Count == 0 || parsed.Action is not System.CommandLine.Invocation.ParseErrorAction) return parsed.InvokeAsync();
        Console.Error.WriteLine($"{parsed.Errors[0].Message} See --help.");
        return Task.FromResult(2);
    }

    private static async Task<int> MemberAsync(string seed, string name)
    {
        try
        {
            await using var member = await LogMember.StartAsync(seed, name);
            Console.WriteLine("      type a line to append it everywhere, ? to compare all logs, Ctrl-D to leave");
            while (await Console.In.ReadLineAsync() is { } line)
                if (line == "?") await member.CompareAsync();
                else await member.WriteAsync(line);
            return 0;
        }
        catch (Exception e) when (e is ArgumentException or IOException or TimeoutException)
        {
            Console.Error.WriteLine(e.Message);
            return 2;
        }
    }
}
