using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>One drawn update: its function, what that was given last, and how it ended.</summary>
/// <param name="value">What the function makes; null removes the entry.</param>
/// <param name="first">What the function does first, each time that it is called.</param>
internal sealed class SurfaceUpdate(string? value, Action<SurfaceUpdate> first)
{
    private DrawnFaultException? _thrown;

    /// <summary>How often the function was called.</summary>
    public int Calls { get; private set; }

    /// <summary>The version of the entry that the function was given last.</summary>
    public ulong Version { get; private set; }

    /// <summary>What that entry held.</summary>
    public HistoryValue Found { get; private set; }

    /// <summary>It ended with what its function threw.</summary>
    public bool HasThrown { get; private set; }

    /// <summary>Runs it. What its function throws on purpose is no error, if the update ends with just that.</summary>
    public async Task RunAsync(DhtMap<string, string> map, string key, PutOptions? options, CancellationToken cancel)
    {
        try
        {
            string? stored = await map.UpdateAsync(key, Change, options, cancel);
            if (_thrown is not null) throw new ScenarioFailedException("An update whose function threw ended well.");
            if (Calls == 0 || stored != value) throw new ScenarioFailedException($"An update whose function was called {Calls} times and made {value} was told that {stored} is stored.");
        }
        catch (DrawnFaultException error) when (error == _thrown)
        {
            HasThrown = true;
        }
    }

    private string? Change(Entry<string> entry)
    {
        if (_thrown is not null) throw new ScenarioFailedException("A function of an update was called again after it had thrown.");
        Calls++;
        (Version, Found) = (entry.Version, entry.Found ? SurfacePart.ElementOf(entry.Value) : HistoryValue.Absent);
        if (entry.Found != (entry.Version > 0)) throw new ScenarioFailedException($"An update was given an entry of version {entry.Version} that is {Found}.");
        try
        {
            first(this);
        }
        catch (DrawnFaultException error)
        {
            _thrown = error;
            throw;
        }
        return value;
    }
}
