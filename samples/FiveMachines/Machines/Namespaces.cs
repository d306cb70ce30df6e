using System.Globalization;
using System.Net;
using System.Text;

namespace FiveMachines.Machines;

/// <summary>
/// Machines that are network namespaces of this one: each has a network of its own, with its own addresses and firewall, and one more holds the switch that connects them. So nothing touches the
/// network of the real machine, and the addresses can be any. Needs Linux, root, and the programs <c>ip</c> and <c>iptables</c>.
/// </summary>
/// <remarks>A machine is cut off from another by rules of its firewall that drop what comes from there and what goes there, as a broken network does: connections stay open, and nothing arrives.</remarks>
internal sealed class Namespaces : IAsyncDisposable
{
    /// <summary>Where `ip netns exec` finds the files of a namespace that stand for those in /etc.</summary>
    private const string Etc = "/etc/netns";
    private const string Prefix = "ida";

    /// <summary>The name of each machine's only network interface.</summary>
    private const string Interface = "eth0";
    private static int s_made;
    private readonly string _name = string.Create(CultureInfo.InvariantCulture, $"{Prefix}{Environment.ProcessId}x{Interlocked.Increment(ref s_made)}-");
    private readonly SortedSet<int> _filtered = [], _narrowed = [];

    private Namespaces(int count) => Count = count;

    public int Count { get; }

    private string Switch => $"{_name}switch";

    private IEnumerable<int> All => Enumerable.Range(1, Count);

    /// <summary>Makes machines 1 to <paramref name="count"/>; removes what an earlier run has left behind because it was killed.</summary>
    /// <exception cref="ShellException">That is not possible here; the message says why.</exception>
    public static async Task<Namespaces> CreateAsync(int count)
    {
        if (!OperatingSystem.IsLinux()) throw new ShellException("network namespaces need Linux");
        if (!Environment.IsPrivilegedProcess) throw new ShellException("network namespaces need root");
        var machines = new Namespaces(count);
        try
        {
            await RemoveLeftoversAsync();
            await machines.MakeAsync();
            // The firewall may be missing where namespaces are allowed.
            await Task.WhenAll(machines.CommandAsync(1, null, "iptables", "-S"), machines.CommandAsync(1, null, "ip6tables", "-S"));
            return machines;
        }
        catch
        {
            await machines.DisposeAsync();
            throw;
        }
    }

    public string NameOf(int machine) => string.Create(CultureInfo.InvariantCulture, $"{_name}{machine}");

    public static IPAddress Address(int machine) => new([10, 77, 0, (byte)machine]);

    public static IPAddress AddressV6(int machine) => IPAddress.Parse(string.Create(CultureInfo.InvariantCulture, $"fd77::{machine:x}"));

    /// <summary>The words before the name of a program that is to run at a machine. What runs then is that program itself: the process has its id.</summary>
    public IReadOnlyList<string> At(int machine) => ["ip", "netns", "exec", NameOf(machine)];

    /// <summary>Runs a program at a machine to its end.</summary>
    public Task<string> CommandAsync(int machine, string? input, params IReadOnlyList<string> words) => Shell.RunAsync(input, [.. At(machine), .. words]);

    /// <summary>From now on nothing flows between these machines and those, in either direction.</summary>
    public Task CutAsync(IReadOnlyCollection<int> some, IReadOnlyCollection<int> others)
    {
        // The firewall of one end drops both directions. It is set at the end of the fewer machines.
        var (near, far) = some.Count <= others.Count ? (some, others) : (others, some);
        return Task.WhenAll(near.Select(machine => DropAsync(machine, far.SelectMany(static other => ((string, int)[])[("INPUT -s", other), ("OUTPUT -d", other)]))));
    }

    /// <summary>From now on nothing that one machine sends arrives at the other; the other direction works.</summary>
    public Task CutOneWayAsync(int from, int to) => DropAsync(to, [("INPUT -s", from)]);

    /// <summary>From now on this share of all packets that arrive at any machine is lost.</summary>
    public Task LoseAsync(double share)
    {
        string rule = string.Create(CultureInfo.InvariantCulture, $"-A INPUT -i {Interface} -m statistic --mode random --probability {share} -j DROP");
        return Task.WhenAll(All.Select(machine => FilterAsync(machine, rule, rule)));
    }

    /// <summary>From now on each machine sends no more than this many kilobits a second; up to a fifth of a second of that waits, the rest is lost.</summary>
    public Task NarrowAsync(int kilobits)
    {
        _narrowed.UnionWith(All);
        return Task.WhenAll(All.Select(machine => CommandAsync(machine, null, "tc", "qdisc", "add", "dev", Interface, "root", "tbf", "rate", string.Create(CultureInfo.InvariantCulture, $"{kilobits}kbit"), "burst", "16kb", "latency", "200ms")));
    }

    /// <summary>How often since then a packet found the link full, and had to wait or was lost.</summary>
    public async Task<long> LateAsync()
    {
        string[] texts = await Task.WhenAll(_narrowed.Select(machine => CommandAsync(machine, null, "tc", "-s", "qdisc", "show", "dev", Interface)));
        return texts.Sum(static text => long.Parse(text.Split("overlimits ")[1].Split(' ')[0], CultureInfo.InvariantCulture));
    }

    /// <summary>How many packets each rule of a cut or a loss has dropped so far.</summary>
    public async Task<IReadOnlyList<Dropped>> DroppedAsync()
    {
        var counts = await Task.WhenAll(_filtered.SelectMany(machine => (Task<IReadOnlyList<Dropped>>[])[CountAsync(machine, false), CountAsync(machine, true)]));
        return [.. counts.SelectMany(static one => one)];
    }

    /// <summary>Ends all cuts, losses and narrow links.</summary>
    public async Task HealAsync()
    {
        int[] filtered = [.. _filtered], narrowed = [.. _narrowed];
        await Task.WhenAll([
            .. filtered.SelectMany(machine => (Task[])[CommandAsync(machine, null, "iptables", "-F"), CommandAsync(machine, null, "ip6tables", "-F")]),
            // What the interface had before; that works as well where the link could not be made narrow.
            .. narrowed.Select(machine => CommandAsync(machine, null, "tc", "qdisc", "replace", "dev", Interface, "root", "noqueue")),
        ]);
        _filtered.Clear();
        _narrowed.Clear();
    }

    /// <summary>
    /// What the programs of a machine find in /etc/hosts. Programs that are started later see this text and, as the file itself is changed, each later one; for that the first call has to come before
    /// they start.
    /// </summary>
    public async Task SetHostsAsync(int machine, string text)
    {
        string folder = Path.Combine(Etc, NameOf(machine));
        Directory.CreateDirectory(folder);
        // The file is bound to its place in each program's own view of the file system, so it must remain the same file.
        await using var file = new FileStream(Path.Combine(folder, "hosts"), FileMode.OpenOrCreate, FileAccess.Write, FileShare.ReadWrite);
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        await file.WriteAsync(bytes);
        file.SetLength(bytes.Length);
    }

    public async ValueTask DisposeAsync() => await Task.WhenAll(All.Select(NameOf).Append(Switch).Select(RemoveAsync));

    private Task<string> MakeAsync()
    {
        var text = new StringBuilder();
        Line($"netns add {Switch}");
        Line($"-n {Switch} link add switch type bridge mcast_snooping 0");
        Line($"-n {Switch} link set switch up");
        foreach (int machine in All)
        {
            string name = NameOf(machine);
            Line($"netns add {name}");
            Line($"-n {Switch} link add port{machine} type veth peer name {Interface} netns {name}");
            Line($"-n {Switch} link set port{machine} master switch up");
            Line($"-n {name} addr add {Address(machine)}/24 dev {Interface}");
            Line($"-n {name} addr add {AddressV6(machine)}/64 dev {Interface} nodad");
            Line($"-n {name} link set lo up");
            Line($"-n {name} link set {Interface} up");
        }
        // The option -n does not work within a batch, so these are the lines of a script.
        return Shell.RunAsync(text.ToString(), "sh", "-e");

        void Line(FormattableString line) => text.Append("ip ").Append(line.ToString(CultureInfo.InvariantCulture)).Append('\n');
    }

    /// <summary>Drops what these rules name; the machine's number behind -s and -d stands for its addresses.</summary>
    private Task<string[]> DropAsync(int machine, IEnumerable<(string Rule, int Other)> rules)
    {
        var all = rules.ToList();
        return FilterAsync(machine, Rules(Address), Rules(AddressV6));

        string Rules(Func<int, IPAddress> addressOf) => string.Join('\n', all.Select(one => $"-A {one.Rule} {addressOf(one.Other)} -j DROP"));
    }

    /// <summary>Adds rules to the firewall of a machine; those of one version of IP all begin at one moment.</summary>
    private Task<string[]> FilterAsync(int machine, string rules, string rulesV6)
    {
        _filtered.Add(machine);
        return Task.WhenAll(CommandAsync(machine, Table(rules), "iptables-restore", "--noflush"), CommandAsync(machine, Table(rulesV6), "ip6tables-restore", "--noflush"));

        static string Table(string rules) => $"*filter\n{rules}\nCOMMIT\n";
    }

    private async Task<IReadOnlyList<Dropped>> CountAsync(int machine, bool v6)
    {
        string text = await CommandAsync(machine, null, v6 ? "ip6tables" : "iptables", "-nvxL");
        var counts = new List<Dropped>();
        string chain = "";
        foreach (string line in text.Split('\n'))
        {
            // Such as "Chain INPUT (policy …" and, for a rule, "packets bytes DROP …".
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (words is ["Chain", var name, ..]) chain = name;
            else if (words is [var packets, _, "DROP", ..]) counts.Add(new(machine, chain, v6, long.Parse(packets, CultureInfo.InvariantCulture)));
        }
        return counts;
    }

    private static async Task RemoveLeftoversAsync()
    {
        var named = (await Shell.RunAsync(null, "ip", "netns", "list")).Split('\n').Select(static line => line.Split(' ')[0]);
        // A run may be killed after it has removed the one and before the other.
        var files = Directory.Exists(Etc) ? Directory.GetDirectories(Etc).Select(static folder => Path.GetFileName(folder)) : [];
        foreach (string name in named.Union(files, StringComparer.Ordinal))
        {
            if (!name.StartsWith(Prefix, StringComparison.Ordinal) || !int.TryParse(name[Prefix.Length..].Split('x')[0], NumberStyles.None, CultureInfo.InvariantCulture, out int process)) continue;
            if (!Directory.Exists($"/proc/{process}")) await RemoveAsync(name);
        }
    }

    private static async Task RemoveAsync(string name)
    {
        try
        {
            Directory.Delete(Path.Combine(Etc, name), recursive: true);
        }
        catch (DirectoryNotFoundException)
        {
            // It has none, or another run removes it at the same time.
        }
        try
        {
            await Shell.RunAsync(null, "ip", "netns", "del", name);
        }
        catch (ShellException)
        {
            // There is none of that name.
        }
    }
}
