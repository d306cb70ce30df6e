using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>
/// The maps of a <see cref="SurfaceSchedule"/>, one of them placed by a shard key, and its resolvers: user code that behaves, throws, removes, returns too much, keeps its turn, or calls back.
/// In some schedules members that enable the DHT late have one more map and resolver, as while a program is upgraded.
/// </summary>
internal sealed class SurfaceResolvers(DhtWorld world, Prng random, Ingredients ingredients, Action<HarnessMember> callBack)
{
    /// <summary>
    /// The maps whose keys are placed by careless code, in the declaration and in the keys; and the keys for which that code throws, throws at replicas only, and keeps the
    /// replicas' turns.
    /// </summary>
    public const string Careless = "p", CarelessOwn = "q", Throwing = "throwing", Late = "late", Blocking = "blocking";

    /// <summary>What only some members declare.</summary>
    public const string Extra = "extra";

    // How many members enable the DHT without the extra map and resolver. All later ones have them, so that no newcomer lacks what is in use.
    private readonly int _plain = random.Next(2) == 0 ? int.MaxValue : 1 + random.Next(7);
    private int _declared;

    /// <summary>What to merge into a text to make the resolver do this; from <see cref="Block"/> on, for how many milliseconds it blocks.</summary>
    public const int Throw = 0, Remove = 1, TooLarge = 2, Call = 3, Block = 10;

    public void Declare(DhtMaps maps)
    {
        foreach (string name in SurfaceDriver.Lists) maps.Map<string, List<long>>(name).OnMerge<long>(static (_, stored, incoming) => [.. stored ?? [], incoming]);
        foreach (string name in (string[])[.. SurfaceDriver.Values, "x"])
        {
            var map = maps.Map<string, string>(name).OnMerge<int>(Resolve);
            if (name == SurfaceDriver.Placed) map.ShardBy(SurfaceDriver.ShardKeyOf);
            if (name == "x" && _declared >= _plain) map.OnMerge<bool>(static (_, stored, _) => stored + "e");
        }
        maps.Map<string, byte[]>("z");
        maps.Map<string, string>(Careless).ShardBy(Place);
        maps.Map<CarelessKey, string>(CarelessOwn);
        CarelessKey.PlaceBy(Place);
        if (_declared++ < _plain) return;
        ingredients.Draw(SurfaceNames.Extras);
        maps.Map<string, string>(Extra);
    }

    private string Place(string key)
    {
        if (key.StartsWith(Throwing, StringComparison.Ordinal)) throw new InvalidDataException($"The shard key of {key} throws.");
        if (world.Running is not { } member) return SurfaceDriver.ShardKeyOf(key);
        if (key.StartsWith(Late, StringComparison.Ordinal)) throw new InvalidDataException($"The shard key of {key} throws in a turn.");
        if (key.StartsWith(Blocking, StringComparison.Ordinal)) member.Stall(TimeSpan.FromMilliseconds(random.Next(3_000)));
        return SurfaceDriver.ShardKeyOf(key);
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
