using System.Buffers;
using FsCheck;
using FsCheck.Fluent;
using GroupCore.Wire;

namespace GroupCore.Tests.Wire;

/// <summary>Any value reads back; equal keys and only they have equal bytes. A failure prints the values and the seed.</summary>
public sealed class WirePropertyTests
{
    private static readonly Config s_config = Config.QuickThrowOnFailure.WithMaxTest(300).WithQuietOnSuccess(true);

    private static void Holds<T>(Func<T, bool> property) => Prop.ForAll(ArbMap.Default.ArbFor<T>(), property).Check(s_config);

    private static bool ReadsBack<T>(T value) => EqualityComparer<T>.Default.Equals(value, ContractSerializerTests.Back<T>(ContractSerializerTests.Bytes(value)));

    private static byte[] Key<T>(T value)
    {
        var to = new ArrayBufferWriter<byte>();
        CanonicalKey.Write(to, value);
        return to.WrittenSpan.ToArray();
    }

    /// <summary>Pairs that are often equal: the second is taken from the first half of the time.</summary>
    private static void KeysAgree<T>(Func<T, bool> isKey)
    {
        Gen<T> any = ArbMap.Default.GeneratorFor<T>().Where(isKey);
        Gen<(T, T)> pairs = from a in any from b in Gen.OneOf(any, Gen.Constant(a)) select (a, b);
        Prop.ForAll(pairs.ToArbitrary(), pair => Key(pair.Item1).AsSpan().SequenceEqual(Key(pair.Item2)) == EqualityComparer<T>.Default.Equals(pair.Item1, pair.Item2))
            .Check(s_config);
    }

    private static bool IsWhole(string? text) => text is null || text == new System.Text.UTF8Encoding().GetString(System.Text.Encoding.UTF8.GetBytes(text));

    [Fact]
    public void Scalars_read_back()
    {
        Holds<int>(ReadsBack);
        Holds<long>(ReadsBack);
        Holds<ulong>(ReadsBack);
        Holds<short>(ReadsBack);
        Holds<byte>(ReadsBack);
        Holds<sbyte>(ReadsBack);
        Holds<char>(ReadsBack);
        Holds<float>(ReadsBack);
        Holds<double>(ReadsBack);
        Holds<decimal>(ReadsBack);
        Holds<bool>(ReadsBack);
        Holds<Guid>(ReadsBack);
        Holds<TimeSpan>(ReadsBack);
        Holds<System.Numerics.BigInteger>(ReadsBack);
        Holds<string?>(s => !IsWhole(s) || ReadsBack(s));
        Holds<DateTime>(t => ReadsBack(DateTime.SpecifyKind(t, DateTimeKind.Utc)));
        Holds<long>(ticks => ReadsBack(new DateTime((long)((ulong)ticks % (ulong)DateTime.MaxValue.Ticks), DateTimeKind.Utc)));
        Holds<DateTimeOffset>(ReadsBack);
        Holds<int?>(ReadsBack);
    }

    [Fact]
    public void Compounds_read_back()
    {
        Holds<(int, bool, double, Guid)>(ReadsBack);
        Holds<Point>(ReadsBack);
        Holds<int[]>(v => v.AsSpan().SequenceEqual(ContractSerializerTests.Back<int[]>(ContractSerializerTests.Bytes(v))));
        Holds<List<long>>(v => v.SequenceEqual(ContractSerializerTests.Back<List<long>>(ContractSerializerTests.Bytes(v))));
        Holds<Dictionary<int, int[]>>(v =>
        {
            var back = ContractSerializerTests.Back<Dictionary<int, int[]>>(ContractSerializerTests.Bytes(v));
            return back.Count == v.Count && v.All(e => e.Value.AsSpan().SequenceEqual(back[e.Key]));
        });
    }

    [Fact]
    public void I2_7_keys_are_equal_exactly_when_their_bytes_are()
    {
        KeysAgree<int>(_ => true);
        KeysAgree<long>(_ => true);
        KeysAgree<double>(v => !double.IsNaN(v));
        KeysAgree<float>(v => !float.IsNaN(v));
        KeysAgree<decimal>(_ => true);
        KeysAgree<string>(IsWhole);
        KeysAgree<Guid>(_ => true);
        KeysAgree<DateTime>(v => v.Kind != DateTimeKind.Local);
        KeysAgree<DateTimeOffset>(_ => true);
        KeysAgree<TimeSpan>(_ => true);
        KeysAgree<(int, string)>(v => IsWhole(v.Item2));
        KeysAgree<(decimal, bool)?>(_ => true);
        KeysAgree<Point>(_ => true);
        KeysAgree<System.Numerics.BigInteger>(_ => true);
    }

    [Fact]
    public void Decimals_of_any_scale_are_equal_exactly_when_their_bytes_are()
    {
        Gen<decimal> scaled = from low in Gen.Choose(0, 100) from zeros in Gen.Choose(0, 6) from scale in Gen.Choose(0, 6) from minus in Gen.Elements(false, true)
                              select new decimal((int)(low * Math.Pow(10, zeros)), 0, 0, minus, (byte)scale);
        Prop.ForAll((from a in scaled from b in scaled select (a, b)).ToArbitrary(), p => Key(p.a).AsSpan().SequenceEqual(Key(p.b)) == (p.a == p.b))
            .Check(s_config.WithMaxTest(3000));
    }
}
