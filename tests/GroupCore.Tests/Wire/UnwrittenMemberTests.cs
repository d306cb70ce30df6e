using System.Buffers;
using System.Runtime.Serialization;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>State that a type holds and its contract does not carry: values would come back without it, and keys that differ only in it would be one.</summary>
public sealed class UnwrittenMemberTests
{
    [Fact]
    public void Public_members_that_cannot_be_set_when_they_are_read_are_refused_by_name()
    {
        Refused<Unset>("holds B, ", "[IgnoreDataMember]");
        Refused<Account>("holds Balance, ", "setter");
        Refused<Cart>("holds Lines, ", "constructor");
        Refused<ByHand>("holds Text, ");
        Refused<WriteOnly>("holds Secret, ");
        Refused<Constant>("holds Limit, ");
        Refused<OverridesSetter>("holds X, ");
        Refused<Hides>("holds X, ");
        Refused<Fixed>("buffer of several elements", "array");
        Refused<Row>("buffer of several elements", "array");
        Refused<Holds<List<Cart>>>("Holds<List<Cart>>.Value[]: Cart holds Lines");
    }

    [Fact]
    public void Members_that_are_computed_or_said_to_be_no_part_of_a_value_are_none()
    {
        Assert.Equal((1, 2), ContractSerializerTests.Back<Computed>(ContractSerializerTests.Bytes(new Computed(1) { B = 2 })).Both);
        Assert.Equal("81A14101", Convert.ToHexString(ContractSerializerTests.Bytes(new LeftOut { A = 1 })));
        Assert.Equal("81A15805", Convert.ToHexString(ContractSerializerTests.Bytes(new Overrides(5))));
        Assert.Equal(5, ContractSerializerTests.Back<Overrides>([0x81, 0xA1, 0x58, 5]).X);
        Assert.Equal("81A2496407", Convert.ToHexString(ContractSerializerTests.Bytes(new LeavesOutOverride { Id = 7, Name = "x" })));
        Assert.Equal("81A2496407", Convert.ToHexString(ContractSerializerTests.Bytes(new LeavesOutHidden { Id = 7, Name = "x" })));
        CanonicalKey.Check<LeavesOutOverride>();
        CanonicalKey.Check<LeavesOutHidden>();
        ContractSerializer.Check<Narrows>();
        ContractSerializer.Check<Trade>();
        ContractSerializer.Check<Named>();
        ContractSerializer.Check<Derived>();
    }

    [Fact]
    public void Members_that_a_contract_names_and_cannot_carry_are_refused_by_name()
    {
        Refused<PrivateSetter>("holds Name, ");
        Refused<NoSetter>("holds Lines, ");
        Refused<PrivateField>("[DataMember] at name, which is not public");
        Refused<InternalProperty>("[DataMember] at Name, which is not public");
        Refused<PrivateByHand>("[DataMember] at Name, which is not public");
        Refused<PrivateWithoutContract>("holds Name, ");
    }

    [Fact]
    public void Collections_with_members_that_a_contract_names_are_refused()
    {
        Refused<Order>("collection", "Customer");
        Refused<OrderByName>("collection", "Customer");
        Refused<LaterOrder>("collection", "Customer");
        ContractSerializer.Check<Marked>();
    }

    [Fact]
    public void Members_of_types_that_mean_something_in_one_process_only_are_refused()
    {
        Assert.Equal("Blob.Data", Refused<Blob>("one process").Member);
        Assert.Equal("Reference.X", Refused<Reference>("one process").Member);
        Assert.Equal("Pointer.P", Refused<Pointer>("one process").Member);
        Assert.Equal("Holds<Pointer>.Value.P", Refused<Holds<Pointer>>("one process").Member);
        Assert.Equal("Pointers.P", Refused<Pointers>("one process").Member);
    }

    [Fact]
    public void Keys_hold_nothing_that_is_not_written()
    {
        NoKey<PrivateKey>("holds _b, ");
        NoKey<MixedKey>("holds B, ");
        NoKey<HiddenKey>("holds B, ");
        NoKey<CapturedKey>("holds b, ");
        NoKey<UnmarkedKey>("holds B, ");
        NoKey<TwoOfOneName>("holds _a, ");
        NoKey<Holds<PrivateKey>>("holds _b, ");
    }

    [Fact]
    public void Keys_may_hold_what_is_written_under_another_name_and_what_is_said_to_be_no_part_of_them()
    {
        CanonicalKey.Check<FieldsByHand>();
        CanonicalKey.Check<Captured>();
        CanonicalKey.Check<WithoutCache>();
        CanonicalKey.Check<Overrides>();
        CanonicalKey.Check<CanonicalKeyTests.Seat>();
        CanonicalKey.Check<(Tuple<int, string>, KeyValuePair<int, long>, System.Numerics.Complex, System.Numerics.Matrix4x4, System.Drawing.Point)>();
        Same(new { A = 1 });
        var to = new ArrayBufferWriter<byte>();
        CanonicalKey.Write(to, new WithoutCache(7));
        Assert.Equal(7, CanonicalKey.Read<WithoutCache>(to.WrittenSpan).A);

        static void Same<T>(T _) => CanonicalKey.Check<T>();
    }

    private static ContractException Refused<T>(params string[] parts)
    {
        var e = Assert.Throws<ContractException>(ContractSerializer.Check<T>);
        Assert.All(parts, part => Assert.Contains(part, e.Message, StringComparison.Ordinal));
        Assert.Throws<ContractException>(CanonicalKey.Check<T>);
        return e;
    }

    private static void NoKey<T>(string part)
    {
        ContractSerializer.Check<T>();
        string message = Assert.Throws<ContractException>(CanonicalKey.Check<T>).Message;
        Assert.Contains("cannot be part of a key", message, StringComparison.Ordinal);
        Assert.Contains(part, message, StringComparison.Ordinal);
    }

    public sealed record Holds<T>(T Value);

    public unsafe struct Fixed
    {
        public fixed byte Bytes[32];
    }

    [System.Runtime.CompilerServices.InlineArray(16)]
    public struct Row
    {
        public int First;
    }

    public class Library
    {
        public virtual string Name { get; set; } = "";

        public int Id { get; set; }
    }

    public sealed class LeavesOutOverride : Library
    {
        [IgnoreDataMember]
        public override string Name { get; set; } = "";
    }

    public sealed class LeavesOutHidden : Library
    {
        [IgnoreDataMember]
        public new string Name { get; set; } = "";
    }

    public readonly record struct Unset(string A)
    {
        public int B { get; private init; }

        public Unset With(int b) => this with { B = b };
    }

    public sealed class Account
    {
        public int Id { get; set; }

        public decimal Balance { get; private set; }

        public void Pay(decimal amount) => Balance += amount;
    }

    public sealed class Cart
    {
        public string Id { get; set; } = "";

        public List<int> Lines { get; } = [];
    }

    /// <summary>A setter shows that the type stores something, whatever is behind the setter.</summary>
    public sealed class ByHand
    {
        private string _text = "";

        public int Id { get; set; }

        public string Text { get => _text; internal set => _text = value; }
    }

    public sealed class WriteOnly
    {
        public int Id { get; set; }

        public string? Secret { private get; set; }

        public int Length() => Secret?.Length ?? 0;
    }

    public sealed class Constant
    {
        public readonly int Limit = Environment.ProcessId;

        public int Id { get; set; }
    }

    public class Virtual
    {
        public virtual int X { get; set; }

        public int Id { get; set; }
    }

    public sealed class OverridesSetter : Virtual
    {
        public override int X { set => base.X = value + 1; }
    }

    public sealed class Hides : Virtual
    {
        public new int X { get; set; }
    }

    public sealed class Narrows : Virtual
    {
        public new int X { get => base.X; set => base.X = value; }
    }

    public sealed class Overrides(int x) : Readable
    {
        public override int X { get; } = x;
    }

    public class Readable
    {
        public virtual int X => 0;
    }

    public sealed class Computed(int a)
    {
        private readonly Dictionary<int, int> _cache = [];

        public int A { get; } = a;

        public int B { get; set; }

        public (int, int) Both => (A, B);

        public int Cached => _cache.Count;
    }

    public sealed class LeftOut
    {
        [NonSerialized]
        public int Aside;

        public int A { get; set; }

        [IgnoreDataMember]
        public DateTime Read { get; } = DateTime.UnixEpoch;

        [field: NonSerialized]
        public int Times { get; private set; }

        public void Count() => Times++;
    }

    [DataContract]
    public sealed class PrivateSetter
    {
        [DataMember(Order = 0)]
        public int Id { get; set; }

        [DataMember(Order = 1)]
        public string? Name { get; private set; }

        public void Call(string name) => Name = name;
    }

    [DataContract]
    public sealed class NoSetter
    {
        [DataMember(Order = 0)]
        public List<int> Lines { get; } = [];
    }

    [DataContract]
    public sealed class PrivateField(string called)
    {
        [DataMember(Order = 1)]
        private readonly string name = called;

        public PrivateField() : this("")
        {
        }

        [DataMember(Order = 0)]
        public int Id { get; set; }

        public override string ToString() => name;
    }

    [DataContract]
    public sealed class InternalProperty
    {
        [DataMember]
        public int Id { get; set; }

        [DataMember]
        internal string? Name { get; set; }
    }

    [DataContract]
    public sealed class PrivateByHand
    {
        private string _name = "";

        [DataMember]
        public int Id { get; set; }

        [DataMember]
        internal string Name { get => _name; set => _name = value; }
    }

    public sealed class PrivateWithoutContract
    {
        public int Id { get; set; }

        [DataMember]
        internal string? Name { get; set; }
    }

    [DataContract]
    public class Order : List<int>
    {
        [DataMember]
        public string? Customer { get; set; }
    }

    public sealed class LaterOrder : Order;

    [DataContract]
    public sealed class OrderByName : Dictionary<string, int>
    {
        [DataMember(Order = 0)]
        public string? Customer { get; set; }
    }

    [DataContract]
    public sealed class Marked : List<int>;

    public sealed class Blob(ReadOnlySpan<byte> data)
    {
        private readonly byte[] _data = data.ToArray();

        public ReadOnlySpan<byte> Data => _data;
    }

    [DataContract]
    public sealed class Reference
    {
        private int _x;

        [DataMember(Order = 0)]
        public ref int X => ref _x;
    }

    public unsafe struct Pointer
    {
        public int* P;
    }

    public sealed unsafe class Pointers
    {
        public int*[] P = [];
    }

    public sealed class PrivateKey(int a, int secret)
    {
        private readonly int _b = secret;

        public PrivateKey(int a) : this(a, 0)
        {
        }

        public int A { get; } = a;

        public override int GetHashCode() => HashCode.Combine(A, _b);

        public override bool Equals(object? obj) => obj is PrivateKey other && (other.A, other._b) == (A, _b);
    }

    public struct MixedKey(int a, int b)
    {
        public int A = a;
        private readonly int B = b;

        public override readonly string ToString() => $"{A} {B}";
    }

    public sealed record HiddenKey(int A)
    {
        private int B { get; init; }

        public HiddenKey With(int b) => this with { B = b };
    }

    public sealed class CapturedKey(int a, int b)
    {
        public CapturedKey(int a) : this(a, 0)
        {
        }

        public int A { get; } = a;

        public int Sum() => A + b;
    }

    [DataContract]
    public sealed record UnmarkedKey([property: DataMember] int A)
    {
        public int B { get; set; }
    }

    public sealed class TwoOfOneName
    {
        private int _a;

        public int A { get; set; }

        public int Next() => ++_a;
    }

    public sealed class FieldsByHand(int first, string second)
    {
        private readonly int _first = first;
        private readonly string second = second;

        public int First => _first;

        public string Second => second;
    }

    public sealed class Captured(int a)
    {
        public int A => a;
    }

    public sealed class WithoutCache(int a)
    {
        [NonSerialized]
        private int _times;

        [IgnoreDataMember]
        private string? _text;

        public int A { get; } = a;

        [IgnoreDataMember]
        public string Name { get; set; } = "";

        public override string ToString() => _text ??= $"{A} {++_times}";
    }
}
