using System.Buffers;
using System.Collections.Immutable;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>I2.7: the same bytes exactly when the keys are equal.</summary>
public sealed class CanonicalKeyTests
{
    private static string Key<T>(T value)
    {
        var to = new ArrayBufferWriter<byte>();
        CanonicalKey.Write(to, value);
        Span<byte> room = stackalloc byte[to.WrittenCount];
        Assert.True(CanonicalKey.TryWrite(room, value, out int written));
        Assert.Equal(to.WrittenSpan.ToArray(), room[..written].ToArray());
        Assert.Equal(value, CanonicalKey.Read<T>(to.WrittenSpan));
        return Convert.ToHexString(to.WrittenSpan);
    }

    private sealed record Reading(string Sensor, double Value);

    private sealed record Nested(Reading[] Readings);

    private sealed record WithSet(int Id, HashSet<int> Tags);

    private sealed record Deep(List<(int, Dictionary<int, int>)> Items);

    [Fact]
    public void Equal_keys_have_one_form()
    {
        Assert.Equal(Key(0.0), Key(-0.0));
        Assert.Equal(Key(0f), Key(-0f));
        Assert.Equal(Key((Half)0), Key((Half)(-0f)));
        Assert.Equal(Key(1m), Key(1.000m));
        Assert.Equal(Key(0m), Key(-0.00m));
        Assert.Equal(Key(120.5m), Key(120.500m));
        Assert.Equal(Key(decimal.MaxValue), Key(79228162514264337593543950335m));
        Assert.Equal(Key(new DateTimeOffset(2026, 1, 1, 2, 0, 0, TimeSpan.FromHours(2))), Key(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero)));
        Assert.Equal(Key(new Reading("a", 0)), Key(new Reading("a", -0.0)));
        Assert.NotEqual(Key(1.0), Key(2.0));
        Assert.NotEqual(Key("a"), Key("A"));
        Assert.NotEqual(Key(0.1m), Key(0.01m));
    }

    [Fact]
    public void Common_keys_are_written_as_any_value()
    {
        Assert.Equal("A66170706C6573", Key("apples"));
        Assert.Equal("05", Key(5));
        Assert.Equal("9201A162", Key((1, "b")));
        Assert.Equal("920102", Convert.ToHexString(Write(new[] { 1, 2 })));
        Assert.Equal(Convert.ToHexString(ContractSerializerTests.Bytes(new Guid("01234567-89ab-cdef-0123-456789abcdef"))), Key(new Guid("01234567-89ab-cdef-0123-456789abcdef")));
    }

    private static byte[] Write<T>(T value)
    {
        var to = new ArrayBufferWriter<byte>();
        CanonicalKey.Write(to, value);
        return to.WrittenSpan.ToArray();
    }

    private static void Refused<T>(string? member)
    {
        var e = Assert.Throws<ContractException>(CanonicalKey.Check<T>);
        Assert.Equal(member, e.Member);
        Assert.Contains("key", e.Message, StringComparison.Ordinal);
        Assert.Throws<ContractException>(() => Write<T>(default!));
    }

    [Fact]
    public void Types_without_an_order_are_refused_up_front()
    {
        Refused<HashSet<int>>(null);
        Refused<SortedSet<int>>(null);
        Refused<Dictionary<int, int>>(null);
        Refused<ImmutableDictionary<int, int>>(null);
        Refused<IEnumerable<int>>(null);
        Refused<Uri>(null);
        Refused<WithSet>("WithSet.Tags");
        Refused<Deep>("Deep.Items[].Item2");
        CanonicalKey.Check<(int, string, double[], List<Guid>, ImmutableArray<int>, Colour?)>();
        CanonicalKey.Check<Tree>();
    }

    /// <summary>Two seats of one city are not equal, and would have the same bytes: those of their city.</summary>
    [Fact]
    public void Values_of_derived_types_are_refused_when_written()
    {
        Write(new Place("Rome"));
        Write(new Seat("Rome", 1));
        var e = Assert.Throws<ContractException>(static () => Write<Place>(new Seat("Rome", 1)));
        Assert.Equal(typeof(Seat), e.Type);
        Assert.Contains("declared as", e.Message, StringComparison.Ordinal);
        Assert.Equal("Trip.To", Assert.Throws<ContractException>(static () => Write(new Trip(new("Rome"), new Seat("Rome", 1)))).Member);
        Assert.Throws<ContractException>(static () => Write<Place[]>([new("Rome"), new Seat("Rome", 1)]));
    }

    [Fact]
    public void Values_that_equal_nothing_are_refused_when_written()
    {
        Assert.Null(Assert.Throws<ContractException>(() => Write(double.NaN)).Member);
        Assert.Throws<ContractException>(() => Write(float.NaN));
        Assert.Throws<ContractException>(() => Write(Half.NaN));
        Assert.Throws<ContractException>(() => Write((float?)float.NaN));
        Assert.Equal("Reading.Value", Assert.Throws<ContractException>(() => Write(new Reading("a", double.NaN))).Member);
        Assert.Equal("Nested.Readings.Value", Assert.Throws<ContractException>(() => Write(new Nested([new("a", 1), new("b", double.NaN)]))).Member);
        Assert.Throws<ContractException>(() => Write("half \uD83C"));
        Assert.Throws<ContractException>(() => Write("\uDF4E"));
        Assert.Equal("AA" + Convert.ToHexString("whole "u8) + "F09F8D8E", Key("whole 🍎"));
        Assert.Throws<ContractException>(() => Write(new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Local)));
    }

    [Fact]
    public void A_key_that_does_not_fit_is_not_written()
    {
        Assert.False(CanonicalKey.TryWrite(stackalloc byte[3], "apples", out int written));
        Assert.Equal(0, written);
    }

    public record Place(string City);

    public sealed record Seat(string City, int Row) : Place(City);

    public sealed record Trip(Place From, Place To);
}
