using System.Runtime.Serialization;
using GroupCore.Wire;

namespace GroupCore.Tests.Wire;

/// <summary>What a type holds and its contract does not carry: values would come back without it, and keys that differ in it would be one.</summary>
public sealed class UnwrittenMemberTests
{
    [Fact]
    public void Members_of_types_that_mean_something_in_one_process_only_are_refused()
    {
        Assert.Equal("Blob.Data", Refused<Blob>("one process").Member);
        Assert.Equal("Reference.X", Refused<Reference>("one process").Member);
        Assert.Equal("Pointer.P", Refused<Pointer>("one process").Member);
        Assert.Equal("Holds<Pointer>.Value.P", Refused<Holds<Pointer>>("one process").Member);
        Assert.Equal("Pointers.P", Refused<Pointers>("one process").Member);
    }

    private static ContractException Refused<T>(params string[] parts)
    {
        var e = Assert.Throws<ContractException>(ContractSerializer.Check<T>);
        Assert.All(parts, part => Assert.Contains(part, e.Message, StringComparison.Ordinal));
        Assert.Throws<ContractException>(CanonicalKey.Check<T>);
        return e;
    }

    public sealed record Holds<T>(T Value);

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
}
