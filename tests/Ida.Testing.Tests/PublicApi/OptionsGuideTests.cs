using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Transport.Credentials;
using GroupCore.Wire;
using Ida.Tests.Shared;
using Oracle;

namespace Ida.Testing.Tests.PublicApi;

/// <summary>docs/guide/options.md lists exactly the options that exist, each with its default.</summary>
public sealed class OptionsGuideTests
{
    private static readonly string s_page = File.ReadAllText(RepositoryFiles.PathOf("docs/guide/options.md"));

    [Theory]
    [InlineData(typeof(IdaNodeOptions)), InlineData(typeof(GroupOptions)), InlineData(typeof(GroupHostOptions)), InlineData(typeof(DhtOptions)), InlineData(typeof(DhtMemberOptions)), InlineData(typeof(OracleOptions))]
    public void The_page_lists_each_option_with_its_default(Type options)
    {
        object defaults = Activator.CreateInstance(options)!;
        var expected = options.GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Select(p => $"`{p.Name}` {(p.IsDefined(typeof(RequiredMemberAttribute)) ? "required" : Text(p.GetValue(defaults)))}");
        string[] parts = s_page.Split($"\n## {options.Name}\n");
        Assert.Equal(2, parts.Length);
        var listed = parts[1].Split("\n## ")[0].Split('\n').Where(line => line.StartsWith("| `", StringComparison.Ordinal)).Select(line =>
        {
            string[] cells = line.Split('|', StringSplitOptions.TrimEntries);
            Assert.True(cells is ["", _, _, { Length: > 10 }, ""], line);
            return $"{cells[1]} {cells[2]}";
        });
        Assert.Equal(expected.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    private static string Text(object? value) => value switch
    {
        null => "none",
        "" => "empty",
        OracleOptions or GroupHostOptions or DhtMemberOptions => "its defaults",
        IPayloadSerializer => "MessagePack",
        IStableHash hash => hash.Name,
        Security => "`Security.Loopback`",
        bool flag => flag ? "true" : "false",
        Enum => value.ToString()!,
        TimeSpan time => Text(time),
        int or long => string.Create(CultureInfo.InvariantCulture, $"{value:N0}"),
        ICollection { Count: 0 } => "empty",
        _ => throw new ArgumentException($"No text for a default of type {value.GetType()}.", nameof(value)),
    };

    private static string Text(TimeSpan time)
    {
        var (count, unit) = time.TotalMinutes > 1 ? (time.TotalMinutes, "min") : time.TotalSeconds >= 1 ? (time.TotalSeconds, "s")
            : time.TotalMilliseconds >= 1 ? (time.TotalMilliseconds, "ms") : (time.TotalMicroseconds, "µs");
        return string.Create(CultureInfo.InvariantCulture, $"{count:0.###} {unit}");
    }
}
