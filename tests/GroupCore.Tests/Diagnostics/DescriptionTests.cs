using System.Text;
using GroupCore.Diagnostics;

namespace GroupCore.Tests.Diagnostics;

/// <summary>A description is an indented tree of bounded size.</summary>
public sealed class DescriptionTests
{
    [Fact]
    public void Lines_are_indented_by_what_they_belong_to()
    {
        var text = new Description();
        text.Open($"group {"g"}");
        text.Line($"rank {1}");
        text.Close();
        text.Line($"end");
        Assert.Equal("group g\n  rank 1\nend\n", text.ToString());
    }

    [Fact]
    public void A_long_list_is_written_with_its_first_items_and_the_number_of_the_others()
    {
        var text = new Description();
        text.List(Enumerable.Range(0, 300), 300, static (text, i) => text.Line($"member {i}"));
        string[] lines = text.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(Description.MostItems + 1, lines.Length);
        Assert.Equal($"… and {300 - Description.MostItems} more", lines[^1]);
    }

    [Fact]
    public void The_whole_is_bounded_whatever_is_written()
    {
        var text = new Description();
        for (int i = 0; i < 10_000; i++) text.Line($"{new string('x', 10_000)}");
        Assert.InRange(text.ToString().Length, Description.MostCharacters / 2, Description.MostCharacters);
        Assert.EndsWith("… the rest is left out\n", text.ToString(), StringComparison.Ordinal);
    }

    /// <summary>The note that says that there is more counts towards the bound too.</summary>
    [Fact]
    public void The_bound_holds_however_long_the_lines_are()
    {
        for (int length = 1; length < 80; length++)
        {
            var text = new Description();
            for (int i = 0; i <= Description.MostCharacters / length; i++) text.Line($"{new string('x', length)}");
            Assert.InRange(text.ToString().Length, Description.MostCharacters - 200, Description.MostCharacters);
        }
    }

    /// <summary>A line that ends within a character has no form in UTF-8.</summary>
    [Fact]
    public void A_long_line_is_not_cut_within_a_character()
    {
        for (int before = 1_020; before < 1_026; before++)
        {
            var text = new Description();
            text.Line($"{new string('x', before)}\U0001F600 and more");
            Assert.False(Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text.ToString())).Contains('\uFFFD'), $"{before} characters before it");
        }
    }

    /// <summary>Names come from users and may contain anything.</summary>
    [Fact]
    public void A_name_with_line_ends_stays_in_its_line()
    {
        var text = new Description();
        text.Line($"group {"a\r\nb\nc"}");
        Assert.Equal("group a b c\n", text.ToString());
    }

    [Theory]
    [InlineData(0, "0 µs")]
    [InlineData(999_999, "999 µs")]
    [InlineData(1_000_000, "1 ms")]
    [InlineData(9_999_999_999, "9999 ms")]
    [InlineData(10_000_000_000, "10 s")]
    public void Times_are_written_as_people_write_them(long nanoseconds, string expected) => Assert.Equal(expected, Description.Time(nanoseconds));
}
