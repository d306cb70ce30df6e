using System.Runtime.Serialization;

namespace GroupCore.Tests.Wire;

public enum Colour : byte
{
    Red = 1,
    Blue = 200,
}

public enum Wide : long
{
    Lowest = long.MinValue,
    One = 1,
}

public sealed record Point(int X, int Y);

public readonly record struct Pair(int Left, string Right);

public sealed record Ping;

/// <summary>Array contract with a hole at 1.</summary>
[DataContract]
public sealed class Trade
{
    [DataMember(Order = 2)]
    public decimal Price { get; set; }

    [DataMember(Order = 0)]
    public string Symbol { get; set; } = "";

    [DataMember(Order = 3)]
    public int[]? Lots { get; set; }

    public string NotOnTheWire { get; set; } = "kept";
}

/// <summary>The same contract, one version later: a new member in the hole and one at the end.</summary>
[DataContract]
public sealed record TradeLater(
    [property: DataMember(Order = 0)] string Symbol,
    [property: DataMember(Order = 1)] string? Venue,
    [property: DataMember(Order = 2)] decimal Price,
    [property: DataMember(Order = 3)] int[]? Lots,
    [property: DataMember(Order = 4)] int Version = 7);

[DataContract]
public sealed class Named
{
    [DataMember(Name = "n")]
    public int Number { get; set; }

    [DataMember]
    public string? Text { get; set; }

    [DataMember]
    public int Doubled => Number * 2;
}

public class Base
{
    public int B { get; set; }
}

public sealed class Derived : Base
{
    public string? D { get; set; }

    public int Field;

    public int Computed => B + 1;

    [IgnoreDataMember]
    public int Ignored { get; set; }

    private int Hidden { get; set; }

    public static int Shared { get; set; }
}

public sealed class InitOnly
{
    public required string Name { get; init; }

    public int Age { get; init; } = 18;
}

public sealed class Checked
{
    public Checked(int age) => Age = age >= 0 ? age : throw new ArgumentOutOfRangeException(nameof(age));

    public int Age { get; }

    public string? Note { get; set; }
}

public sealed class Tree
{
    public int Value { get; set; }

    public List<Tree> Children { get; set; } = [];
}

public sealed record Chain(int N, Chain? Next);

public struct Plain
{
    public int A;
    public long? B;
}

public sealed class Bag : List<int>;

public sealed record Everything(
    bool Flag, byte Small, sbyte Signed, short Short, ushort UShort, int Int, uint UInt, long Long, ulong ULong, float Single, double Double, decimal Decimal,
    char Character, string? Text, byte[]? Bytes, Guid Id, DateTime At, TimeSpan For, Colour Colour, int? Maybe, Point? Where, List<string>? Names,
    Dictionary<string, long>? Counts, (int, string) Two, HashSet<int>? Set);
