using System.Collections;
using System.Numerics;
using System.Runtime.Serialization;
using System.Text;
using System.Text.Json.Nodes;
using System.Xml.Linq;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>A type that would be written without its content is refused: readers would get empty values, and all keys of the type would be one.</summary>
public sealed class LostContentTests
{
    [Fact]
    public void Collections_that_cannot_be_made_from_their_items_are_refused()
    {
        Refused<BitArray>("collection");
        Refused<ArrayList>("collection");
        Refused<SortedList>("collection");
        Refused<Hashtable>("collection");
        Refused<JsonObject>("collection");
        Refused<JsonArray>("collection");
        Refused<Titled>("collection");
        Refused<TitledPairs>("collection");
        Refused<TitledValue>("collection");
        Refused<Holds<Titled>>("Holds<Titled>.Value");
    }

    [Fact]
    public void Classes_of_the_base_library_whose_members_say_little_are_refused()
    {
        Refused<StringBuilder>("base library");
        Refused<Lazy<int>>("base library");
        Refused<MemoryStream>("base library");
        Refused<StringWriter>("base library");
        Refused<XDocument>("base library");
        Refused<ThreadLocal<int>>("base library");
    }

    [Fact]
    public void A_collection_that_says_which_members_it_consists_of_is_written_by_them()
    {
        byte[] bytes = ContractSerializerTests.Bytes(new Span(3, 5));
        Assert.Equal("920305", Convert.ToHexString(bytes));
        Assert.Equal([3, 4, 5], ContractSerializerTests.Back<Span>(bytes));
    }

    [Fact]
    public void Tuples_structs_and_what_derives_from_a_known_collection_are_written_as_before()
    {
        ContractSerializer.Check<Tuple<int, Tuple<string>>>();
        ContractSerializer.Check<(int, KeyValuePair<string, Plane>)>();
        ContractSerializer.Check<Bag>();
        ContractSerializer.Check<Named>();
    }

    private static void Refused<T>(string reason)
    {
        Assert.Contains(reason, Assert.Throws<ContractException>(ContractSerializer.Check<T>).Message, StringComparison.Ordinal);
        Assert.Throws<ContractException>(CanonicalKey.Check<T>);
    }

    public sealed record Holds<T>(T Value);

    public sealed class Titled(params int[] items) : IReadOnlyList<int>
    {
        public Titled() : this(1, 2)
        {
        }

        public string Title { get; set; } = "";

        public int Count => items.Length;

        public int this[int index] => items[index];

        public IEnumerator<int> GetEnumerator() => ((IEnumerable<int>)items).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    /// <summary>Readers could fill it, but not make it.</summary>
    public sealed class TitledPairs(string title) : Dictionary<int, int>
    {
        public string Title { get; set; } = title;
    }

    public struct TitledValue : IEnumerable<int>
    {
        public string Title { get; set; }

        public readonly IEnumerator<int> GetEnumerator() => Enumerable.Range(0, 3).GetEnumerator();

        readonly IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    [DataContract]
    public sealed class Span(int first, int last) : IEnumerable<int>
    {
        [DataMember(Order = 0)]
        public int First { get; } = first;

        [DataMember(Order = 1)]
        public int Last { get; } = last;

        public IEnumerator<int> GetEnumerator() => Enumerable.Range(First, Last - First + 1).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
