using System.Globalization;
using Ida.Chaos.Members;

namespace Ida.NetworkMember;

/// <summary>What a member process is told when it starts, as words of its command line.</summary>
/// <param name="Place">Name, cluster, addresses and clients. The history file stands for the beginning of the names of all files that the process writes.</param>
/// <param name="Policy">What it does when it is excluded.</param>
/// <param name="OracleSize">Voters of the membership service.</param>
/// <param name="StartTimeout">How long it looks for its cluster.</param>
internal sealed record NetworkPlace(MemberPlace Place, ExclusionPolicy Policy, int OracleSize, TimeSpan StartTimeout)
{
    /// <summary>The environment variable with the key of the cluster.</summary>
    public const string KeyVariable = "IDA_NETWORK_KEY";
    private const int OwnWords = 3;

    public IEnumerable<string> Words => [Policy.ToString(), OracleSize.ToString(CultureInfo.InvariantCulture), StartTimeout.ToString("c", CultureInfo.InvariantCulture), .. Place.Words];

    /// <summary>Where it records, for one trial, what its clients did.</summary>
    public string HistoryOf(string trial) => $"{Place.HistoryFile}-{trial}.history";

    /// <summary>Where it records, for one trial, when it acted.</summary>
    public string ActsOf(string trial) => $"{Place.HistoryFile}-{trial}.acts";

    /// <summary>Where its log goes.</summary>
    public string Log => $"{Place.HistoryFile}.log";

    public static NetworkPlace Parse(string[] words) =>
        new(MemberPlace.Parse(words[OwnWords..]), Enum.Parse<ExclusionPolicy>(words[0]), int.Parse(words[1], CultureInfo.InvariantCulture), TimeSpan.Parse(words[2], CultureInfo.InvariantCulture));
}
