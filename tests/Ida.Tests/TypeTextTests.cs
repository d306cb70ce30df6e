namespace Ida.Tests;

/// <summary>Every type that a map or a resolver may have has a name of its own, and finding the name comes to an end.</summary>
public sealed class TypeTextTests
{
    private const string Here = "Ida.Tests.TypeTextTests.";

    [Theory]
    [InlineData(typeof(string), "System.String")]
    [InlineData(typeof(int[,]), "System.Int32[,]")]
    [InlineData(typeof(Dictionary<string, List<int>>), "System.Collections.Generic.Dictionary<System.String,System.Collections.Generic.List<System.Int32>>")]
    [InlineData(typeof(Plain), Here + "Plain")]
    [InlineData(typeof(Plain.Of<int>), Here + "Plain.Of<System.Int32>")]
    [InlineData(typeof(Outer<int>), Here + "Outer<System.Int32>")]
    public void The_name_of_a_type_is_as_it_was(Type type, string name) => Assert.Equal(name, TypeText.Of(type));

    /// <summary>The declaring type of such a type is open: the arguments belong to the nested type, and the parameters of the declaring type are no types.</summary>
    [Theory]
    [InlineData(typeof(Outer<int>.Inner), Here + "Outer<>.Inner<System.Int32>")]
    [InlineData(typeof(Outer<int>.Inner[]), Here + "Outer<>.Inner<System.Int32>[]")]
    [InlineData(typeof(Outer<int>.Pair<string, long>), Here + "Outer<>.Pair<System.Int32,System.String,System.Int64>")]
    [InlineData(typeof(Outer<int>.Pair<string, long>.Deep), Here + "Outer<>.Pair<,,>.Deep<System.Int32,System.String,System.Int64>")]
    [InlineData(typeof(Outer<Outer<int>.Inner>.Inner), Here + "Outer<>.Inner<" + Here + "Outer<>.Inner<System.Int32>>")]
    [InlineData(typeof(List<int>.Enumerator), "System.Collections.Generic.List<>.Enumerator<System.Int32>")]
    [InlineData(typeof(Outer<>), Here + "Outer<>")]
    public void R_a_type_nested_in_a_generic_one_has_a_name(Type type, string name) => Assert.Equal(name, TypeText.Of(type));

    public static class Plain
    {
        public sealed record Of<T>(T Value);
    }

    public static class Outer<T>
    {
        public sealed record Inner(T Value);

        public static class Pair<TLeft, TRight>
        {
            public sealed record Deep(T Value, TLeft Left, TRight Right);
        }
    }
}
