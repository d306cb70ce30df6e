using GroupCore.Membership;
using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>Plays events of a group by hand: processes are letters, messages are numbers.</summary>
internal sealed class GroupTape(VirtualSynchronyOptions? options = null)
{
    private readonly Dictionary<int, GroupFlush> _flushes = [];
    private readonly Dictionary<ulong, string> _lists = [];

    public VirtualSynchronyChecker Checker { get; } = new(options);

    public static ProcessId Id(char name) => new(name, (ulong)(name - 'a' + 1));

    public static View View(ulong id, string members, string before = "", string left = "")
    {
        ViewMember[] list = [.. members.Select(m => new ViewMember(Id(m), new($"10.0.0.{m}:7700"), before.Length == 0 || before.Contains(m), ""))];
        return new(new(1, 1), "g", id, id, new(), list, [.. members.Where(m => before.Length > 0 && !before.Contains(m)).Select(Id)],
            [.. left.Select(Id)], [.. before.Where(m => !members.Contains(m) && !left.Contains(m)).Select(Id)], []);
    }

    /// <summary>The given processes install a view, one after the other.</summary>
    public GroupTape Install(string who, ulong view, string members, string left = "", ulong? digest = null)
    {
        _lists[view] = members;
        foreach (char process in who) Checker.ViewInstalled(Id(process), View(view, members, _lists.GetValueOrDefault(view - 1, ""), left), digest);
        return this;
    }

    public GroupTape Send(char who, ulong message, ulong view, MulticastKind kind = MulticastKind.Fifo)
    {
        Checker.Sent(Id(who), message, kind, view);
        return this;
    }

    public GroupTape Order(char who, ulong message, ulong view) => Send(who, message, view, MulticastKind.Ordered);

    public GroupTape Deliver(string who, params ulong[] messages)
    {
        foreach (char process in who)
            foreach (ulong message in messages) Checker.Delivered(Id(process), message);
        return this;
    }

    public GroupTape Return(ulong message)
    {
        Checker.Returned(message);
        return this;
    }

    public GroupTape Load(char who, ulong view, ulong digest)
    {
        Checker.CheckpointLoaded(Id(who), view, digest);
        return this;
    }

    public GroupTape Crash(char who)
    {
        Checker.Crashed(Id(who));
        return this;
    }

    public GroupTape Leave(char who)
    {
        Checker.Left(Id(who));
        return this;
    }

    /// <summary>Everything that the process has sent so far has left it.</summary>
    public GroupTape Gone(char who, ulong view)
    {
        Checker.HasSent(Id(who), view);
        return this;
    }

    /// <summary>The process joins again under its id.</summary>
    public GroupTape Again(char who)
    {
        Checker.JoinsAgain(Id(who));
        return this;
    }

    public GroupTape CallFlush(char who, int name)
    {
        _flushes[name] = Checker.FlushCalled(Id(who));
        return this;
    }

    public GroupTape ReturnFlush(int name)
    {
        Checker.FlushReturned(_flushes[name]);
        return this;
    }

    public GroupTape Tell(char from, char to, ulong message, ulong view)
    {
        Checker.PeerSent(Id(from), Id(to), message, view);
        return this;
    }

    public GroupTape Hear(char who, params ulong[] messages)
    {
        foreach (ulong message in messages) Checker.PeerReceived(Id(who), message);
        return this;
    }
}
