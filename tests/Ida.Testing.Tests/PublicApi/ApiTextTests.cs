namespace Ida.Testing.Tests.PublicApi;

/// <summary>The text that locks the public API contains everything that a caller can rely on.</summary>
public sealed class ApiTextTests
{
    public interface ISample<in T> where T : class, new()
    {
        string? Find(T key, int from = 3, params string[] names);
    }

    public abstract class Sample
    {
        public const int Limit = 5;

        protected Sample(int? size) => Size = size;

        public int? Size { get; init; }

        public required List<string?> Names { get; set; }

        internal int Hidden { get; set; }

        protected abstract ref int At(in int index);

        public override string ToString() => "";
    }

    public sealed record SampleRecord(string? Text);

    [Fact]
    public void What_a_caller_can_name_is_in_the_text_and_nothing_else()
    {
        string[] lines = [.. ApiText.Of(typeof(ApiTextTests).Assembly).Split('\n')
            .Where(l => l.Contains("ApiTextTests.Sample", StringComparison.Ordinal) || l.Contains("ApiTextTests.ISample", StringComparison.Ordinal))
            .Select(l => l.Replace("Ida.Testing.Tests.PublicApi.ApiTextTests.", "", StringComparison.Ordinal))];
        Assert.Equal(
        [
            "interface ISample<T> where T : class, new()",
            "    ISample<T>: Find(T key, int from = 3, params string[] names) : string?",
            "abstract class Sample",
            "    Sample: Size { get; init; } : int?",
            "    Sample: const Limit : int = 5",
            "    Sample: override ToString() : string",
            "    Sample: protected abstract At(in int index) : ref int",
            "    Sample: protected new(int? size)",
            "    Sample: required Names { get; set; } : System.Collections.Generic.List<string?>",
            "sealed record class SampleRecord : System.IEquatable<SampleRecord>",
            "    SampleRecord: Text { get; init; } : string?",
            "    SampleRecord: new(string? Text)",
        ], lines);
    }
}
