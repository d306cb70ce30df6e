using System.Globalization;

namespace Ida.Chaos.Members;

/// <summary>What a member process is told when it starts, as words of its command line.</summary>
internal sealed record MemberPlace(string Name, string Cluster, string Listen, string Advertise, IReadOnlyList<string> Seeds, int ShardSize, int TargetSize, int Clients, ulong Seed, string HistoryFile, TimeSpan LongestFault)
{
    public IEnumerable<string> Words =>
        [Name, Cluster, Listen, Advertise, string.Join(',', Seeds), Text(ShardSize), Text(TargetSize), Text(Clients), Seed.ToString(CultureInfo.InvariantCulture), HistoryFile, Text((int)LongestFault.TotalSeconds)];

    public static MemberPlace Parse(string[] words) =>
        new(words[0], words[1], words[2], words[3], words[4].Split(','), Number(words[5]), Number(words[6]), Number(words[7]), ulong.Parse(words[8], CultureInfo.InvariantCulture), words[9], TimeSpan.FromSeconds(Number(words[10])));

    private static int Number(string word) => int.Parse(word, CultureInfo.InvariantCulture);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
