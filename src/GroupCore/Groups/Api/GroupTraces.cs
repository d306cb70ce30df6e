using System.Diagnostics;
using GroupCore.Diagnostics;

namespace GroupCore.Groups;

/// <summary>Sends and queries of groups as activities of the source <c>Ida.GroupCore</c>.</summary>
internal static class GroupTraces
{
    private static readonly ActivitySource s_source = new("Ida.GroupCore");

    /// <summary>Whether anybody listens.</summary>
    public static bool IsOn => s_source.HasListeners();

    /// <summary>Begins one; null if nobody wants it. On the caller's thread: whoever listens is user code.</summary>
    public static Activity? Start(string operation, string group, string handler) =>
        Traced.Start(s_source, operation, ActivityKind.Producer)?.SetTag("ida.group", group).SetTag("ida.handler", handler);
}
