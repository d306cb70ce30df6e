using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>The memory of a shared field, with the writes that are not seen yet.</summary>
internal sealed class Cell<T>(T initial)
{
    private readonly T _initial = initial;
    private readonly List<(Lane Lane, T Value)> _late = [];
    private T _value = initial;
    private int _schedule = Lane.Current?.Schedule.Number ?? 0;
    private Place _place;

    /// <summary>A plain or volatile access.</summary>
    public T Value
    {
        get
        {
            Explored.Point(_place.What, _place.File, _place.Line);
            return Read();
        }
        set
        {
            Explored.Point(_place.What, _place.File, _place.Line);
            Write(value);
        }
    }

    public Cell<T> At(Place place)
    {
        _place = place;
        return this;
    }

    public T Read()
    {
        Renew();
        for (int i = _late.Count - 1; i >= 0; i--)
            if (_late[i].Lane == Lane.Current) return _late[i].Value;
        return _value;
    }

    public void Write(T value)
    {
        Renew();
        if (Lane.Current is not { } lane)
        {
            _value = value;
            return;
        }
        _late.Add((lane, value));
        lane.Schedule.Write(lane, () =>
        {
            int at = _late.FindIndex(one => one.Lane == lane);
            _value = _late[at].Value;
            _late.RemoveAt(at);
        });
    }

    /// <summary>Reads and writes in one step, after a fence.</summary>
    public T Change(Func<T, T> change)
    {
        if (Lane.Current is { } lane) lane.Schedule.Settle(lane);
        Renew();
        var before = _value;
        _value = change(before);
        return before;
    }

    public T Exchange(T value)
    {
        if (Lane.Current is { } lane) lane.Schedule.Settle(lane);
        Renew();
        (var before, _value) = (_value, value);
        return before;
    }

    public T CompareExchange(T value, T comparand)
    {
        if (Lane.Current is { } lane) lane.Schedule.Settle(lane);
        Renew();
        var before = _value;
        if (EqualityComparer<T>.Default.Equals(before, comparand)) _value = value;
        return before;
    }

    // A static field begins anew with each schedule.
    private void Renew()
    {
        if (_schedule == 0 || Lane.Current is not { } lane || lane.Schedule.Number == _schedule) return;
        (_schedule, _value) = (lane.Schedule.Number, _initial);
        _late.Clear();
    }
}
