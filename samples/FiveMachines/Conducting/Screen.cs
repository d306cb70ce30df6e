using System.Diagnostics;
using System.Globalization;

namespace FiveMachines.Conducting;

/// <summary>One screen: what happened, and below it a table of what each process believes.</summary>
internal sealed class Screen(Cluster cluster)
{
    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly List<string> _story = [];

    /// <summary>Tells what happens now.</summary>
    public void Tell(string what) => Show(Time() + what);

    /// <summary>Shows what came of it.</summary>
    public void Show(string line)
    {
        _story.Add(line);
        // A terminal is drawn anew, so that everything stays in one place; a file gets one table after the other.
        if (!Console.IsOutputRedirected)
        {
            Console.Clear();
            foreach (string told in _story) Console.WriteLine(told);
        }
        else Console.WriteLine(line);
        Table();
    }

    private void Table()
    {
        Console.WriteLine();
        Console.WriteLine("  machine  address           node      view  members     total  added, acknowledged  unknown");
        foreach (var member in cluster.Members)
        {
            if (member is null) continue;
            var belief = member.Belief;
            string state = member.IsKilled ? "killed" : belief.State.Length == 0 ? "starts" : belief.State;
            string members = string.Join(' ', belief.Members.Select(cluster.MachineAt).Order());
            string total = belief.Total?.ToString(CultureInfo.InvariantCulture) ?? "-";
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {member.Machine,7}  {cluster.AddressOf(member.Machine),-16}  {state,-8}  {belief.View,4}  {members,-10}  {total,5}  {belief.Acknowledged,19}  {belief.Unknown,7}"));
        }
        Console.WriteLine();
    }

    private string Time() => string.Create(CultureInfo.InvariantCulture, $"{Stopwatch.GetElapsedTime(_began).TotalSeconds,5:F1} s  ");
}
