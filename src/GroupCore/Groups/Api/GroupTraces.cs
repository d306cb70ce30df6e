using System.Diagnostics;
using GroupCore.Diagnostics;

namespace GroupCore.Groups;

/// <summary>Sends and queries of groups as activities of the source <c>Ida.GroupCore</c>, if anybody listens.</summary>
internal static class GroupTraces
{
    // Not made in a type initializer: there a listener that throws would break all calls for ever, and one that blocks would hold them up.
    private static ActivitySource? s_source;

    /// <summary>Whether anybody listens.</summary>
    public static bool IsOn => s_source is { } source && source.HasListeners();

    /// <summary>Makes the source, once for the process. Runs user code, which may block.</summary>
    public static void Publish() => s_source ??= Traced.Source("Ida.GroupCore");

    /// <summary>Begins an activity; null if no listener wants it. On the caller's thread: listeners are user code.</summary>
    public static Activity? Start(string operation, string group, string handler) =>
        Traced.Start(s_source, operation, ActivityKind.Producer)?.SetTag("ida.group", group).SetTag("ida.handler", handler);
}
