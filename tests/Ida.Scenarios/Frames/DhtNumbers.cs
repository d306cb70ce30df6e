using System.Globalization;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>Numbers with a meaning of their own in frames of the DHT, as lines of text.</summary>
internal static class DhtNumbers
{
    /// <summary>What it is, the number, the name.</summary>
    public static IEnumerable<string> Lines =>
    [
        .. new[] { OperationKind.Get, OperationKind.Put }.Select(static kind => $"operation {kind.Number} {kind}"),
        .. KeyEffect.All.Select(static effect => $"effect {effect.Number} {effect}"),
        $"an expected version follows {KeyDeed.Expectation}",
        $"report {PutReportCodec.None} none, {PutReportCodec.NotMet} not met, {PutReportCodec.Failed} failed, {PutReportCodec.Removed} applied and removed, {PutReportCodec.Stored} applied and stored",
        .. Of<RejectReason>(),
        .. Of<EndStatus>(),
        .. Of<ReadStatus>(),
    ];

    private static IEnumerable<string> Of<T>()
        where T : struct, Enum => Enum.GetValues<T>().Select(static value => $"{typeof(T).Name} {Convert.ToByte(value, CultureInfo.InvariantCulture)} {value}");
}
