using System.Globalization;

namespace QuickStart;

/// <summary>The size of the run and its seed, checked.</summary>
internal sealed record RunOptions(int Members, int ShardSize, ulong Seed)
{
    public const int DefaultMembers = 5;
    public const int DefaultShardSize = 2;
    public const ulong DefaultSeed = 1;
    private const int LeastMembers = 3;
    private const int MostMembers = 16;

    /// <summary>Members that hold a slot: as many whole shards as fit, with at least one member left over as a spare.</summary>
    public int TargetSize => (Members - 1) / ShardSize * ShardSize;

    public int Shards => TargetSize / ShardSize;

    /// <summary>Reads the texts of the command line (null: not given); on failure <paramref name="error"/> is one line that says what is allowed.</summary>
    public static bool TryParse(string? members, string? shardSize, string? seed, out RunOptions options, out string error)
    {
        options = new(DefaultMembers, DefaultShardSize, DefaultSeed);
        if (!TryNumber(members, DefaultMembers, out int n) || n is < LeastMembers or > MostMembers)
        {
            error = $"--members must be a whole number from {LeastMembers} to {MostMembers}, not \"{members}\".";
            return false;
        }
        if (!TryNumber(shardSize, DefaultShardSize, out int s) || s < 2 || s >= n)
        {
            error = $"--shard-size must be a whole number from 2 to {n - 1} when there are {n} members, not \"{shardSize}\": "
                + "a shard survives a kill with 2 members or more, and one member is a spare.";
            return false;
        }
        ulong x = DefaultSeed;
        if (seed is not null && !ulong.TryParse(seed, NumberStyles.None, CultureInfo.InvariantCulture, out x))
        {
            error = $"--seed must be a whole number from 0 to {ulong.MaxValue}, not \"{seed}\".";
            return false;
        }
        options = new(n, s, x);
        error = "";
        return true;
    }

    private static bool TryNumber(string? text, int otherwise, out int number)
    {
        number = otherwise;
        return text is null || int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number);
    }
}
