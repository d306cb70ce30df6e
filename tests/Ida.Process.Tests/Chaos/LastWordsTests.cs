using Ida.Chaos.Driving;

namespace Ida.Process.Tests.Chaos;

/// <summary>What a member of chaos wrote last: a report shows what went wrong, and not only where.</summary>
public sealed class LastWordsTests
{
    [Fact]
    public void The_beginning_of_an_exception_is_kept_however_long_its_stack_is()
    {
        var words = new LastWords();
        words.Add("before");
        words.Add("Unhandled exception. System.AggregateException: One or more errors occurred.");
        words.Add(" ---> System.InvalidOperationException: the reason");
        for (int i = 0; i < 500; i++) words.Add($"   at Frame{i}()");
        string said = words.ToString();
        Assert.StartsWith("Unhandled exception. System.AggregateException: One or more errors occurred. |  ---> System.InvalidOperationException: the reason |    at Frame0() | … | ", said, StringComparison.Ordinal);
        Assert.EndsWith("at Frame499()", said, StringComparison.Ordinal);
        Assert.Equal(LastWords.HeadLines + 1 + LastWords.MostLines, said.Split(" | ").Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(36)]
    [InlineData(37)]
    [InlineData(38)]
    [InlineData(39)]
    public void No_line_is_there_twice_and_none_of_the_beginning_is_missing(int frames)
    {
        var words = new LastWords();
        for (int i = 0; i < 100; i++) words.Add($"before {i}");
        words.Add("Error: first");
        words.Add(" second");
        words.Add(" third");
        for (int i = 0; i < frames; i++) words.Add($"   at Frame{i}()");
        string[] lines = words.ToString().Split(" | ");
        Assert.All(["Error: first", " second", " third"], line => Assert.Single(lines, line));
        Assert.Equal(lines.Length, lines.Distinct().Count());
    }

    [Fact]
    public void Many_messages_and_long_lines_are_bounded()
    {
        var words = new LastWords();
        for (int i = 0; i < 1_000; i++) words.Add(new string('x', 100_000));
        Assert.InRange(words.ToString().Length, LastWords.MostLines * LastWords.MostChars, (LastWords.MostLines + LastWords.HeadLines + 1) * (LastWords.MostChars + 10));
    }
}
