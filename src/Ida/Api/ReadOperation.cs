using Ida.Coordination;

namespace Ida;

/// <summary>Read of keys of several maps.</summary>
internal sealed class ReadOperation(DhtLayer layer) : ClientOperation<DhtReading>(layer)
{
    private DhtReading _reading = null!;

    public void For(DhtReading reading) => _reading = reading;

    protected override DhtReading Result()
    {
        for (int i = 0; i < PartCount; i++) 
            if (TryValue(i, out var value)) _reading.Set(Parts[i].Index, KeyOf(i), value, Parts[i].Version);
        return _reading;
    }

    protected override void Return()
    {
        // It belongs to one reading.
    }
}
