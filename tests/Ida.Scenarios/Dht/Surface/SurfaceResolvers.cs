namespace Ida.Scenarios;

/// <summary>The resolvers of a <see cref="SurfaceSchedule"/>: user code that behaves, throws, removes, returns too much, keeps its turn, or calls back.</summary>
internal sealed class SurfaceResolvers(DhtWorld world, Action<HarnessMember> callBack)
{
    /// <summary>What to merge into a text to make the resolver do it; milliseconds from <see cref="Block"/> on.</summary>
    public const int Throw = 0, Remove = 1, TooLarge = 2, Call = 3, Block = 10;

    public void Register(DhtRegistry registry)
    {
        registry.OnMerge<string, List<long>, long>(static (_, stored, incoming) => [.. stored ?? [], incoming]);
        registry.OnMerge<string, string, int>(Resolve);
    }

    private string? Resolve(string key, string? stored, int what)
    {
        switch (what)
        {
            case Throw: throw new InvalidDataException($"The resolver throws for {key}.");
            case Remove: return null;
            case TooLarge: return new('L', 300_000);
            case Call:
                if (world.Running is { } caller) callBack(caller);
                return stored + "c";
            default:
                if (world.Running is { } blocked) blocked.Stall(TimeSpan.FromMilliseconds(what));
                return stored + "b";
        }
    }
}
