using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>Frames that were refused and that no honest node sends: where nobody lies there are none, or an honest node would be muted one day.</summary>
internal static class Offences
{
    public static long Of(NodeCounters counters) => counters.Refused(RefusalReason.Framing) + counters.Refused(RefusalReason.Malformed) + counters.Refused(RefusalReason.UnknownType) + counters.Refused(RefusalReason.NotEntitled);
}
