using System.Diagnostics.Metrics;

namespace GroupCore.Diagnostics;

/// <summary>The attributes of one kind of source.</summary>
/// <param name="tags">The tags that each value has, for the table in the documentation.</param>
/// <param name="all">The attributes; those of one name stand side by side.</param>
internal sealed class AttributeSet<TSource>(string tags, params StateAttribute<TSource>[] all)
{
    /// <summary>Writes those that are not 0.</summary>
    public void Describe(Description text, TSource source)
    {
        foreach (var attribute in all)
        {
            long value = attribute.Read(source);
            if (value == 0) continue;
            string tag = attribute.Tag is { } own ? $" {own.Key}={own.Value}" : "";
            text.Line($"{attribute.Name}{tag}: {value} {attribute.Unit}");
        }
    }

    /// <summary>
    /// Makes an instrument for each name; it reads all sources that exist when a listener asks. Listeners hear of each instrument as it is made. They are user
    /// code: a listener that throws prevents neither this instrument nor the next.
    /// </summary>
    public void Publish(Meter meter, Func<IEnumerable<Measured<TSource>>> sources)
    {
        foreach (var group in all.GroupBy(static attribute => attribute.Name, StringComparer.Ordinal))
        {
            StateAttribute<TSource>[] same = [.. group];
            var (name, kind, unit, description) = (same[0].Name, same[0].Kind, same[0].Unit, same[0].Description);
            Func<IEnumerable<Measurement<long>>> observe = () => Observe(same, sources());
            try
            {
                if (kind == AttributeKind.Counter) meter.CreateObservableCounter(name, observe, unit, description);
                else if (kind == AttributeKind.UpDownCounter) meter.CreateObservableUpDownCounter(name, observe, unit, description);
                else meter.CreateObservableGauge(name, observe, unit, description);
            }
            catch (Exception)
            {
                // The meter holds the instrument, so a listener that starts later finds it.
            }
        }
    }

    /// <summary>The rows of a table in Markdown, one for each name.</summary>
    public IEnumerable<string> Rows()
    {
        foreach (var group in all.GroupBy(static attribute => attribute.Name, StringComparer.Ordinal))
        {
            var first = group.First();
            string own = first.Tag is { } tag ? $"{tags}, {tag.Key}" : tags;
            yield return $"| `{first.Name}` | {first.Kind} | `{first.Unit}` | {own} | {first.Description} |";
        }
    }

    private static IEnumerable<Measurement<long>> Observe(StateAttribute<TSource>[] same, IEnumerable<Measured<TSource>> sources)
    {
        foreach (var (source, tags) in sources)
            foreach (var attribute in same)
                yield return new(attribute.Read(source), attribute.Tag is { } tag ? [.. tags, tag] : tags);
    }
}
