using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Globalization;
using System.Numerics;
using System.Text;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>Bytes worked out by hand from the format's specification and the documented formats of MessagePack-CSharp.</summary>
public sealed class ContractSerializerTests
{
    internal static byte[] Bytes<T>(T value)
    {
        var to = new ArrayBufferWriter<byte>();
        ContractSerializer.Instance.Serialize(to, value);
        return to.WrittenSpan.ToArray();
    }

    internal static T Back<T>(byte[] bytes) => ContractSerializer.Instance.Deserialize<T>(bytes);

    /// <summary>The bytes are these, and reading them gives a value that is written to the same bytes again.</summary>
    private static T Check<T>(T value, string hex)
    {
        byte[] bytes = Bytes(value);
        Assert.Equal(hex, Convert.ToHexString(bytes));
        T back = Back<T>(bytes);
        Assert.Equal(hex, Convert.ToHexString(Bytes(back)));
        return back;
    }

    private static void Same<T>(T value, string hex) => Assert.Equal(value, Check(value, hex));

    /// <summary>A member that a message lacks keeps the default of the constructor's parameter, of whatever type that is.</summary>
    [Fact]
    public void Members_that_a_message_lacks_keep_the_defaults_of_the_constructor()
    {
        Assert.Equal(new Defaults(7), Back<Defaults>(Convert.FromHexString("81A2496407")));
    }

    [Fact]
    public void Primitives()
    {
        Same(true, "C3");
        Same((byte)200, "CCC8");
        Same((sbyte)-1, "FF");
        Same((short)-300, "D1FED4");
        Same((ushort)300, "CD012C");
        Same(1, "01");
        Same(-100_000, "D2FFFE7960");
        Same(uint.MaxValue, "CEFFFFFFFF");
        Same(long.MinValue, "D38000000000000000");
        Same(ulong.MaxValue, "CFFFFFFFFFFFFFFFFF");
        Same(1.5f, "CA3FC00000");
        Same(double.NegativeInfinity, "CBFFF0000000000000");
        Same(-0.0, "CB8000000000000000");
        Same('a', "61");
        Same('€', "CD20AC");
        Same((Half)1.5, "CA3FC00000");
        Same((Int128)(-2), "C410FEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
        Same((UInt128)258, "C41002010000000000000000000000000000");
        Same("apples", "A66170706C6573");
        Same<string?>(null, "C0");
    }

    [Fact]
    public void Numbers_as_text_or_bytes()
    {
        Same(1.50m, "A4312E3530");
        Assert.Equal("1.50", Check(1.50m, "A4312E3530").ToString(CultureInfo.InvariantCulture));
        Same(decimal.MinValue, "BE" + Convert.ToHexString("-79228162514264337593543950335"u8));
        Same(new BigInteger(0), "C40100");
        Same(new BigInteger(-129), "C4027FFF");
        Same(BigInteger.Pow(2, 64), "C409000000000000000001");
    }

    [Fact]
    public void Values_of_the_base_library()
    {
        Same(new Guid("01234567-89ab-cdef-0123-456789abcdef"), "D924" + Convert.ToHexString("01234567-89ab-cdef-0123-456789abcdef"u8));
        Same(new DateTime(1970, 1, 1, 0, 0, 1, DateTimeKind.Utc), "D6FF00000001");
        Same(new DateTime(621355968000000001, DateTimeKind.Utc), "D7FF0000019000000000");
        Same(DateTime.SpecifyKind(DateTime.MinValue, DateTimeKind.Utc), "C70CFF00000000FFFFFFF1886E0900");
        Same(DateTime.SpecifyKind(DateTime.MaxValue, DateTimeKind.Utc), "C70CFF3B9AC99C0000003AFFF4417F");
        Same(new DateTimeOffset(1970, 1, 1, 2, 0, 0, TimeSpan.FromHours(2)), "92D6FF00001C2078");
        Same(TimeSpan.FromTicks(-1), "FF");
        Same(new DateOnly(1, 1, 2), "01");
        Same(new TimeOnly(1), "01");
        Same(new Rune(0x1F34E), "CE0001F34E");
        Same(new Version(1, 2, 3), "A5312E322E33");
        Same(new Uri("http://a/"), "A9687474703A2F2F612F");
        Same<Version?>(null, "C0");
        Same(new Complex(1, 2), "92CB3FF0000000000000CB4000000000000000");
        Same(new Vector2(1, 2), "92CA3F800000CA40000000");
        Same(new Vector3(1, 2, 4), "93CA3F800000CA40000000CA40800000");
        Check(Matrix3x2.Identity, "96CA3F800000CA00000000CA00000000CA3F800000CA00000000CA00000000");
    }

    [Fact]
    public void Local_times_are_written_as_utc()
    {
        var utc = new DateTime(2026, 11, 21, 12, 0, 0, DateTimeKind.Utc);
        Assert.Equal(Bytes(utc), Bytes(utc.ToLocalTime()));
        Assert.Equal(Bytes(utc), Bytes(DateTime.SpecifyKind(utc, DateTimeKind.Unspecified)));
    }

    [Fact]
    public void Bytes_in_all_their_types()
    {
        Same(new byte[] { 1, 2 }, "C4020102");
        Same<byte[]?>(null, "C0");
        Assert.Equal(new byte[] { 1, 2 }, Check(new Memory<byte>([1, 2]), "C4020102").ToArray());
        Assert.Equal(new byte[] { 1, 2 }, Check(new ReadOnlyMemory<byte>([1, 2]), "C4020102").ToArray());
        Assert.Equal(new byte[] { 1, 2 }, Check(new ReadOnlySequence<byte>([1, 2]), "C4020102").ToArray());
        Assert.Equal(new byte[] { 1, 2 }, Check(new ArraySegment<byte>([1, 2]), "C4020102").ToArray());
        Same(new List<byte> { 1, 200 }, "9201CCC8");
    }

    [Fact]
    public void Enumerations_and_nullables()
    {
        Same(Colour.Blue, "CCC8");
        Same(Wide.Lowest, "D38000000000000000");
        Same<Colour?>(null, "C0");
        Same<int?>(5, "05");
        Same<int?>(null, "C0");
    }

    [Fact]
    public void Tuples_are_arrays()
    {
        Same((1, "a"), "9201A161");
        Same(Tuple.Create(1, "a", true), "9301A161C3");
        Same(ValueTuple.Create(5), "9105");
        Same((1, 2, 3, 4, 5, 6, 7, 8, 9), "9801020304050607920809");
        Same(new KeyValuePair<string, int>("k", 1), "92A16B01");
    }

    [Fact]
    public void Sequences_are_arrays()
    {
        Same(new[] { 1, 2, 3 }, "93010203");
        Same(new string?[] { "a", null }, "92A161C0");
        Same(new List<int> { 1, 2, 3 }, "93010203");
        Same<IList<int>>([1, 2], "920102");
        Same<IReadOnlyList<int>>([1, 2], "920102");
        Same<ICollection<int>>([1, 2], "920102");
        Same<IReadOnlyCollection<int>>([1, 2], "920102");
        Same(Enumerable.Range(1, 3).Where(i => i > 1), "920203");
        Same(new Queue<int>([1, 2]), "920102");
        Same(new Stack<int>([1, 2]), "920201");
        Same(new LinkedList<int>([1, 2]), "920102");
        Same(new ConcurrentQueue<int>([1, 2]), "920102");
        Same(new ConcurrentStack<int>([1, 2]), "920201");
        Check(new ConcurrentBag<int>([1]), "9101");
        Same(new Collection<int>([1, 2]), "920102");
        Same(new ReadOnlyCollection<int>([1, 2]), "920102");
        Same(new ObservableCollection<int>([1, 2]), "920102");
        Check(new ReadOnlyObservableCollection<int>([1, 2]), "920102");
        Same(new HashSet<int> { 1, 2 }, "920102");
        Same(new SortedSet<int> { 2, 1 }, "920102");
        Same<ISet<int>>(new HashSet<int> { 1, 2 }, "920102");
        Same<IReadOnlySet<int>>(new HashSet<int> { 1, 2 }, "920102");
        Same(new ReadOnlySet<int>(new HashSet<int> { 1 }), "9101");
        Same(new[] { 7 }.ToFrozenSet(), "9107");
        Same(ImmutableArray.Create(1, 2), "920102");
        Assert.True(Check(default(ImmutableArray<int>), "C0").IsDefault);
        Same(ImmutableList.Create(1, 2), "920102");
        Same<IImmutableList<int>>(ImmutableList.Create(1, 2), "920102");
        Same(ImmutableQueue.Create(1, 2), "920102");
        Same<IImmutableQueue<int>>(ImmutableQueue.Create(1, 2), "920102");
        Same(ImmutableStack.Create(1, 2), "920201");
        Same<IImmutableStack<int>>(ImmutableStack.Create(1, 2), "920201");
        Same(ImmutableHashSet.Create(1), "9101");
        Same<IImmutableSet<int>>(ImmutableHashSet.Create(1), "9101");
        Same(ImmutableSortedSet.Create(2, 1), "920102");
        Same(new Bag { 4, 5 }, "920405");
        Assert.Equal([1, 2], Check(new Memory<int>([1, 2]), "920102").ToArray());
        Assert.Equal([1, 2], Check(new ReadOnlyMemory<int>([1, 2]), "920102").ToArray());
        Same(new ArraySegment<int>([1, 2, 3], 1, 2), "920203");
        Same(new[] { new[] { 1 }, [] }, "92910190");
    }

    [Fact]
    public void Dictionaries_are_maps()
    {
        Same(new Dictionary<string, int> { ["a"] = 1, ["b"] = 2 }, "82A16101A16202");
        Same<IDictionary<int, int>>(new Dictionary<int, int> { [1] = 2 }, "810102");
        Same<IReadOnlyDictionary<int, int>>(new Dictionary<int, int> { [1] = 2 }, "810102");
        Same(new SortedDictionary<int, int> { [2] = 0, [1] = 0 }, "8201000200");
        Same(new SortedList<int, int> { [2] = 0, [1] = 0 }, "8201000200");
        Same(new OrderedDictionary<int, int> { [2] = 0, [1] = 0 }, "8202000100");
        Same(new ReadOnlyDictionary<int, int>(new Dictionary<int, int> { [1] = 2 }), "810102");
        Same(new ConcurrentDictionary<int, int> { [1] = 2 }, "810102");
        Same(ImmutableDictionary.Create<int, int>().Add(1, 2), "810102");
        Same<IImmutableDictionary<int, int>>(ImmutableDictionary.Create<int, int>().Add(1, 2), "810102");
        Same(ImmutableSortedDictionary.Create<int, int>().Add(2, 0).Add(1, 0), "8201000200");
        Check(new Dictionary<int, int> { [1] = 2 }.ToFrozenDictionary(), "810102");
        Same<Dictionary<int, int>?>(null, "C0");
    }

    [Fact]
    public void Records_and_classes_without_attributes_are_maps_by_name()
    {
        Same(new Point(1, 2), "82A15801A15902");
        Same(new Pair(1, "r"), "82A44C65667401A55269676874A172");
        Same(new Ping(), "80");
        Same<Point?>(null, "C0");
        Same(new Plain { A = 1, B = null }, "82A14101A142C0");
        Derived derived = Check(new Derived { B = 1, D = "d", Field = 3, Ignored = 9 }, "83A14201A144A164A54669656C6403");
        Assert.Equal((1, "d", 3, 0), (derived.B, derived.D, derived.Field, derived.Ignored));
        InitOnly init = Check(new InitOnly { Name = "x", Age = 3 }, "82A44E616D65A178A341676503");
        Assert.Equal(("x", 3), (init.Name, init.Age));
        Checked made = Check(new Checked(3) { Note = "n" }, "82A341676503A44E6F7465A16E");
        Assert.Equal((3, "n"), (made.Age, made.Note));
    }

    [Fact]
    public void Data_contracts_with_order_are_arrays_with_nil_in_the_holes()
    {
        Trade trade = Check(new Trade { Symbol = "IBM", Price = 1.5m, Lots = [1] }, "94A349424DC0A3312E359101");
        Assert.Equal(("IBM", 1.5m, "kept"), (trade.Symbol, trade.Price, trade.NotOnTheWire));
    }

    [Fact]
    public void Data_contracts_without_order_are_maps()
    {
        Named named = Check(new Named { Number = 2, Text = "t" }, "83A16E02A454657874A174A7446F75626C656404");
        Assert.Equal((2, "t"), (named.Number, named.Text));
    }

    [Fact]
    public void Members_may_be_added_and_unknown_ones_are_skipped()
    {
        TradeLater later = Back<TradeLater>(Bytes(new Trade { Symbol = "IBM", Price = 1.5m, Lots = [1] }));
        Assert.Equal(("IBM", null, 1.5m, 7), (later.Symbol, later.Venue, later.Price, later.Version));
        Trade earlier = Back<Trade>(Bytes(new TradeLater("IBM", "NY", 2m, null, 9)));
        Assert.Equal(("IBM", 2m), (earlier.Symbol, earlier.Price));

        byte[] more = Convert.FromHexString("84A15901A15A9201810203A1580505C0");
        Assert.Equal(new Point(5, 1), Back<Point>(more));
        Assert.Equal(new Point(0, 1), Back<Point>(Convert.FromHexString("81A15901")));
        Assert.Equal(18, Back<InitOnly>(Convert.FromHexString("81A44E616D65A178")).Age);
    }

    [Fact]
    public void Types_may_contain_themselves()
    {
        Tree tree = Check(new Tree { Value = 1, Children = [new() { Value = 2 }] }, "82A556616C756501A84368696C6472656E9182A556616C756502A84368696C6472656E90");
        Assert.Equal(2, tree.Children[0].Value);
    }

    [Fact]
    public void Depth_is_limited_both_ways()
    {
        Chain? chain = null;
        for (int i = 0; i < MessagePackReader.MaxDepth; i++) chain = new(i, chain);
        Assert.Equal(chain, Back<Chain?>(Bytes(chain)));
        Assert.Contains("64 deep", Assert.Throws<ContractException>(() => Bytes(new Chain(0, chain))).Message, StringComparison.Ordinal);
        byte[] deeper = [.. Bytes(chain)[..^1], .. Bytes(new Chain(0, null))];
        Assert.Contains("64 deep", Assert.Throws<InvalidDataException>(() => Back<Chain>(deeper)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Everything_in_one_record_reads_back()
    {
        var all = new Everything(true, 1, -1, -2, 3, -4, 5, -6, 7, 8.5f, 9.25, 10.5m, 'x', "text", [1], new Guid("01234567-89ab-cdef-0123-456789abcdef"),
            new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc), TimeSpan.FromSeconds(6), Colour.Red, 11, new(1, 2), ["a", "b"], new() { ["k"] = 12 }, (13, "z"), [14]);
        Everything back = Back<Everything>(Bytes(all));
        Assert.Equivalent(all, back, strict: true);
        Assert.Equal(Bytes(all), Bytes(back));
    }

    [Fact]
    public void Wrong_bytes_say_what_and_where()
    {
        Assert.Contains("integer", Assert.Throws<InvalidDataException>(() => Back<int>([0xA0])).Message, StringComparison.Ordinal);
        Assert.Contains("2 bytes follow", Assert.Throws<InvalidDataException>(() => Back<int>([1, 2, 3])).Message, StringComparison.Ordinal);
        Assert.Contains("from 0 to 255", Assert.Throws<InvalidDataException>(() => Back<byte>([0xCD, 1, 0])).Message, StringComparison.Ordinal);
        Assert.Throws<InvalidDataException>(() => Back<int>([0xC0]));
        Assert.Throws<InvalidDataException>(() => Back<Guid>([0xA1, 0x61]));
        Assert.Throws<InvalidDataException>(() => Back<decimal>([0xA1, 0x61]));
        Assert.Throws<InvalidDataException>(() => Back<Int128>([0xC4, 1, 1]));
        Assert.Throws<InvalidDataException>(() => Back<Version>([0xA1, 0x61]));
        Assert.Throws<InvalidDataException>(() => Back<DateTime>(Convert.FromHexString("C70CFF000000007FFFFFFFFFFFFFFF")));
        Assert.Throws<InvalidDataException>(() => Back<DateOnly>([0xFF]));
        Assert.Throws<InvalidDataException>(() => Back<Dictionary<int, int>>([0x82, 1, 1, 1, 1]));
        var refused = Assert.Throws<InvalidDataException>(() => Back<Checked>(Convert.FromHexString("81A3416765FF")));
        Assert.IsType<ArgumentOutOfRangeException>(refused.InnerException);
    }

    private interface IShape;

    private abstract class Shape;

    public sealed record Holds<T>(T Value);

    private sealed class Opaque
    {
        private int _state = 1;

        public int Next() => _state++;
    }

    [System.Runtime.Serialization.DataContract]
    private sealed class Mixed
    {
        [System.Runtime.Serialization.DataMember(Order = 0)]
        public int A { get; set; }

        [System.Runtime.Serialization.DataMember]
        public int B { get; set; }
    }

    [System.Runtime.Serialization.DataContract]
    private sealed class Twice
    {
        [System.Runtime.Serialization.DataMember(Order = 0)]
        public int A { get; set; }

        [System.Runtime.Serialization.DataMember(Order = 0)]
        public int B { get; set; }
    }

    private sealed class NoMatch
    {
        public NoMatch(int other) => A = other;

        public int A { get; set; }
    }

    public sealed class Picky
    {
        public int Value { get => 0; set => throw new UnspeakableException(value == 1); }
    }

    public sealed class UnspeakableException(bool throws) : Exception
    {
        public override string Message => throws ? throw new InvalidOperationException("unspeakable") : null!;
    }

    private static void Refused<T>(Type type, string? member, string reason)
    {
        var e = Assert.Throws<ContractException>(ContractSerializer.Check<T>);
        Assert.Equal(type, e.Type);
        Assert.Equal(member, e.Member);
        Assert.Contains(reason, e.Message, StringComparison.Ordinal);
        Assert.Throws<ContractException>(() => Bytes<T>(default!));
    }

    [Fact]
    public void Types_that_cannot_travel_are_refused_by_name()
    {
        Refused<object>(typeof(object), null, "declare the type");
        Refused<IShape>(typeof(IShape), null, "interface");
        Refused<Shape>(typeof(Shape), null, "abstract");
        Refused<Action>(typeof(Action), null, "code");
        Refused<Holds<List<object>>>(typeof(object), "Holds<List<Object>>.Value[]", "declare the type");
        Refused<Holds<Dictionary<string, Holds<IShape>>>>(typeof(IShape), "Holds<Dictionary<String, Holds<IShape>>>.Value[].Value", "interface");
        Refused<int[,]>(typeof(int[,]), null, "dimensions");
        Refused<nint>(typeof(nint), null, "one process");
        Refused<Opaque>(typeof(Opaque), null, "no public member");
        Refused<Mixed>(typeof(Mixed), null, "A and B");
        Refused<Twice>(typeof(Twice), null, "A and B");
        Refused<NoMatch>(typeof(NoMatch), null, "constructor");
        Refused<Exception>(typeof(Exception), null, "not data");
    }

    /// <summary>The exception is user code too: asked for its text, it may throw again, or give none.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_type_that_refuses_what_was_read_with_an_error_that_cannot_be_asked_is_malformed_all_the_same(int value)
    {
        byte[] bytes = Bytes(new Holds<int>(value));
        var e = Assert.Throws<InvalidDataException>(() => Back<Picky>(bytes));
        Assert.IsType<UnspeakableException>(e.InnerException);
        Assert.Contains(nameof(UnspeakableException), e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Into_a_span_or_not_at_all()
    {
        Span<byte> room = stackalloc byte[7];
        Assert.True(ContractSerializer.TrySerialize(room, new Point(1, 2), out int written));
        Assert.Equal(7, written);
        Assert.False(ContractSerializer.TrySerialize(room[..6], new Point(1, 2), out _));
    }

    public sealed record Defaults(
        int Id, DayOfWeek Day = DayOfWeek.Friday, DayOfWeek? Perhaps = DayOfWeek.Friday, DayOfWeek? Never = null, int? Count = 3, long Long = 5, decimal Price = 1.5m, string Text = "a", DateTime Time = default);
}
