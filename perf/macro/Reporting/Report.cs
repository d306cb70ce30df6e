using System.Text;
using System.Text.Json;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Reporting;

/// <summary>The fields of one run in the order they were set, as one JSON line.</summary>
internal sealed class Report
{
    private readonly List<(string Name, object Value)> _fields = [];

    public object this[string name] => _fields.Find(f => f.Name == name).Value;

    public void Set(string name, object value)
    {
        int at = _fields.FindIndex(f => f.Name == name);
        if (at < 0) _fields.Add((name, value));
        else _fields[at] = (name, value);
    }

    /// <summary>Samples, percentiles and maximum in µs under <c>name_…</c>.</summary>
    public void Set(string name, Histogram histogram)
    {
        Set(name + "_samples", histogram.Count);
        Set(name + "_p50_us", histogram.Microseconds(0.5));
        Set(name + "_p99_us", histogram.Microseconds(0.99));
        Set(name + "_p999_us", histogram.Microseconds(0.999));
        Set(name + "_max_us", histogram.Count == 0 ? double.NaN : histogram.Max / 1e3);
    }

    /// <summary>p50/p99/p99.9 for the human line.</summary>
    public string Three(string name) => $"{Rounded((double)this[name + "_p50_us"])}/{Rounded((double)this[name + "_p99_us"])}/{Rounded((double)this[name + "_p999_us"])}";

    public string ToJson()
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream))
        {
            writer.WriteStartObject();
            foreach (var (name, value) in _fields)
            {
                writer.WritePropertyName(name);
                if (value is double number) Write(writer, number);
                else JsonSerializer.Serialize(writer, value, value.GetType());
            }
            writer.WriteEndObject();
        }
        return Encoding.UTF8.GetString(stream.GetBuffer(), 0, (int)stream.Length);
    }

    /// <summary>Rounds to a whole number from 100 on, to two decimals from 10 on, else to three.</summary>
    public static object Rounded(double value) => value switch
    {
        _ when !double.IsFinite(value) => "none",
        _ when Math.Abs(value) >= 100 => Math.Round(value),
        _ => Math.Round(value, Math.Abs(value) < 10 ? 3 : 2),
    };

    private static void Write(Utf8JsonWriter writer, double value)
    {
        if (Rounded(value) is double rounded) writer.WriteNumberValue((decimal)rounded);
        else writer.WriteStringValue("none");
    }
}
