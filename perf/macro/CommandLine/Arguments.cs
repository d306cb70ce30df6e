using System.Globalization;

namespace Ida.Perf.Macro.CommandLine;

/// <summary><c>--name value</c> pairs after one leading word. It remembers every name that is asked for, so that unknown names can be refused.</summary>
internal sealed class Arguments
{
    private readonly SortedDictionary<string, string> _values = new(StringComparer.Ordinal);
    private readonly HashSet<string> _known = new(StringComparer.Ordinal);

    public Arguments(IReadOnlyList<string> words)
    {
        Command = words.Count == 0 ? "" : words[0];
        for (int i = 1; i < words.Count; i += 2)
        {
            if (!words[i].StartsWith("--", StringComparison.Ordinal) || i + 1 == words.Count) throw new UsageException($"expected --name value at '{words[i]}'");
            if (!_values.TryAdd(words[i][2..], words[i + 1])) throw new UsageException($"option {words[i]} is given twice");
        }
    }

    public string Command { get; }

    public string? Text(string name)
    {
        _known.Add(name);
        return _values.GetValueOrDefault(name);
    }

    public int Number(string name, int fallback, int least, int most = int.MaxValue)
    {
        if (Text(name) is not { } text) return fallback;
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number) && number >= least && number <= most
            ? number
            : throw new UsageException($"--{name} must be a whole number from {least}" + (most == int.MaxValue ? "" : $" to {most}") + $", not '{text}'");
    }

    /// <summary>The given choice, or the first one if the option is missing.</summary>
    public string OneOf(string name, params ReadOnlySpan<string> choices)
    {
        if (Text(name) is not { } text) return choices[0];
        return choices.Contains(text) ? text : throw new UsageException($"--{name} must be one of {string.Join("|", choices!)}, not '{text}'");
    }

    public void RefuseUnknown()
    {
        foreach (string name in _values.Keys)
            if (!_known.Contains(name)) throw new UsageException($"unknown option --{name} for '{Command}'");
    }
}
