using GroupCore.Diagnostics;
using GroupCore.Watching;

namespace Ida.Nodes;

/// <summary>Has each part of a life describe itself, inside a turn.</summary>
internal sealed class DescribeCommand(string cluster, NodeLife life) : LoopCommand<string>(life.Node)
{
    /// <summary>The description of a life that is over says no more than that: none of its parts may be looked at any more.</summary>
    public string OfOver()
    {
        var text = new Description();
        text.Line($"node at {life.Node.Links.Local}, cluster {cluster}: {life.State}{(life.Fault is { } fault ? $". {fault.Message}" : "")}");
        return text.ToString();
    }

    public override void Abandon(Exception reason) => Answer(OfOver());

    protected override string Ask()
    {
        var text = new Description();
        text.Line($"node {life.Oracle.Self} ({life.Node.Id:x16}) at {life.Node.Links.Local}, cluster {cluster}: {life.State}, this life began {Description.Time(life.Node.Now - life.Began)} ago");
        life.Watch.Describe(text);
        life.Oracle.Describe(text);
        life.Groups.Describe(text);
        return text.ToString();
    }
}
