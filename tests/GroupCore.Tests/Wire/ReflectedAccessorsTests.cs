using GroupCore.Wire.Contracts;

namespace GroupCore.Tests.Wire;

/// <summary>Both ways to reach members do the same, on classes and structs, properties and fields.</summary>
public sealed class ReflectedAccessorsTests
{
    private static void GetsAndSets<TOwner, TMember>(TOwner owner, string name, TMember value)
    {
        var member = typeof(TOwner).GetMember(name).Single();
        ReflectedAccessors.Setter<TOwner, TMember>(member)(ref owner, value);
        Assert.Equal(value, ReflectedAccessors.Getter<TOwner, TMember>(member)(ref owner));
        Assert.Equal(value, Accessors.Getter<TOwner, TMember>(member)(ref owner));
        Accessors.Setter<TOwner, TMember>(member)(ref owner, default!);
        Assert.Equal(default, ReflectedAccessors.Getter<TOwner, TMember>(member)(ref owner));
    }

    [Fact]
    public void Members()
    {
        GetsAndSets(new Derived(), nameof(Derived.B), 5);
        GetsAndSets(new Derived(), nameof(Derived.Field), 6);
        GetsAndSets(new Derived(), nameof(Derived.D), "d");
        GetsAndSets(new Plain(), nameof(Plain.A), 7);
        GetsAndSets(new Plain(), nameof(Plain.B), (long?)8);
        GetsAndSets(new InitOnly { Name = "" }, nameof(InitOnly.Age), 9);
        GetsAndSets(new Pair(1, "r"), nameof(Pair.Left), 10);
    }

    [Fact]
    public void Constructors()
    {
        Holder[] holders = [new Holder<string>("r"), new Holder<int>(4)];
        var constructor = typeof(Pair).GetConstructor([typeof(int), typeof(string)])!;
        Assert.Equal(new Pair(4, "r"), ReflectedAccessors.Constructor<Pair>(constructor, [1, 0])(holders));
        Assert.Equal(new Pair(4, "r"), Accessors.Constructor<Pair>(constructor, [1, 0], [typeof(int), typeof(string)])(holders));
    }
}
