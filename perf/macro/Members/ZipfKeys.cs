using GroupCore.Runtime;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// Keys by a Zipf distribution with exponent 0.99, as YCSB draws them (Cooper et al., SoCC 2010): key k has a share in proportion to 1 / (k + 1)^0.99. The draw is exact, by a
/// search in the table of cumulated shares (8 bytes per key). Placement hashes keys, so hot keys are not neighbours.
/// </summary>
internal sealed class ZipfKeys
{
    private const double Exponent = 0.99;
    private const int Resolution = 1 << 30;
    private readonly double[] _upTo;

    public ZipfKeys(int keys)
    {
        _upTo = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++) _upTo[i] = sum += Math.Pow(i + 1, -Exponent);
        for (int i = 0; i < keys; i++) _upTo[i] /= sum;
    }

    public int Draw(Prng random) => At(random.Next(Resolution) / (double)Resolution);

    /// <summary>The key at a cumulated share from 0 to below 1.</summary>
    public int At(double share)
    {
        int found = Array.BinarySearch(_upTo, share);
        return found < 0 ? ~found : found + 1;
    }
}
