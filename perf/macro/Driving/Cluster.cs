using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Driving;

/// <summary>The member processes of one run.</summary>
internal sealed class Cluster(RunOptions options, IReadOnlyList<string> words) : IDisposable
{
    private const int StartSeconds = 60;
    private const int FirstPort = 20_000;
    private const int Ports = 10_000;
    private readonly string _name = $"perf-{Environment.ProcessId}";
    private readonly List<MemberProcess> _members = [];
    private string _seeds = "";

    public IReadOnlyList<MemberProcess> Members => _members;

    /// <summary>Starts every member. The first starts before the others and founds the cluster.</summary>
    public void Start()
    {
        _seeds = string.Join(',', FreePorts(Math.Min(3, options.Members)).Select(port => $"127.0.0.1:{port}"));
        Add();
        while (_members.Count < options.Members) Launch();
        for (int i = 1; i < _members.Count; i++) _members[i].Answer(StartSeconds);
        All("ENABLE", StartSeconds);
        All($"FORMED {options.Members}", StartSeconds);
    }

    /// <summary>Starts one more member and waits until its node is up and in the group.</summary>
    public MemberProcess Add()
    {
        var member = Launch();
        member.Answer(StartSeconds);
        return member;
    }

    public MemberProcess Launch()
    {
        var member = MemberProcess.Start($"member {_members.Count}", [Program.MemberCommand, $"{_members.Count}", _name, _seeds, .. words], options.Verbose);
        _members.Add(member);
        return member;
    }

    public List<JsonObject> All(string command, int seconds) => All(_members, command, seconds);

    public static List<JsonObject> All(IReadOnlyCollection<MemberProcess> members, string command, int seconds)
    {
        foreach (var member in members) member.Tell(command);
        return [.. members.Select(member => member.Answer(seconds))];
    }

    public ProcessorTime ReadProcessorTime() => ProcessorTime.Read(_members.Select(m => m.Id));

    public void Dispose()
    {
        foreach (var member in _members) member.Kill();
        foreach (var member in _members) member.Dispose();
    }

    /// <summary>Ports below the range from which the system takes them for outgoing connections, so that none is taken meanwhile.</summary>
    private static List<int> FreePorts(int count)
    {
        var found = new List<int>();
        while (found.Count < count)
        {
            int port = FirstPort + Random.Shared.Next(Ports);
            if (!found.Contains(port) && IsFree(port)) found.Add(port);
        }
        return found;
    }

    private static bool IsFree(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
