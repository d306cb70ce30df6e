using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// An object by its <see cref="ContractShape"/>: an array with nil in the holes, or a map of names. A reader skips members that it does not know,
/// and members that a message lacks keep their defaults, so members can be added on either side.
/// </summary>
internal sealed class ObjectFormatter<T> : Formatter<T?>
{
    /// <summary>Holders of the last object read on this thread, kept for reuse; null while they are in use, since types nest.</summary>
    [ThreadStatic]
    private static Holder[]? t_spare;

    /// <summary>Checked before a comparison with null, which boxes a struct where code is not optimised.</summary>
    private static readonly bool s_nullable = !typeof(T).IsValueType;

    private readonly bool _asArray;
    private readonly Member<T>[] _members;
    private readonly Member<T>?[] _places;
    private readonly Func<Holder[], T>? _construct;
    private readonly int _taken;
    private readonly string? _noKey;

    [RequiresUnreferencedCode("Uses members by reflection."), RequiresDynamicCode("Makes generic types.")]
    public ObjectFormatter(ContractShape shape)
    {
        _asArray = shape.AsArray;
        _noKey = shape.NoKey;
        _members = [.. shape.Members.Select(m => (Member<T>)Activator.CreateInstance(typeof(Member<,>).MakeGenericType(typeof(T), m.Type), m)!)];
        for (int i = 0; i < _members.Length; i++) _members[i].Index = i;
        _places = _asArray && _members.Length > 0 ? new Member<T>?[_members[^1].Contract.Order + 1] : [];
        if (_asArray) foreach (Member<T> member in _members) _places[member.Contract.Order] = member;
        _taken = shape.Arguments.Length;
        if (shape.Constructor is not null)
            _construct = Accessors.Constructor<T>(shape.Constructor, shape.Arguments, [.. shape.Arguments.Select(i => shape.Members[i].Type)]);
    }

    public override string? NoKey => _noKey;

    public override IEnumerable<(string Name, Formatter Part)> Parts => _members.Select(m => ("." + m.Contract.Info.Name, m.Formatter));

    public override void Complete(IFormatterSource source)
    {
        foreach (Member<T> member in _members) member.Complete(source);
    }

    public override void Write(ref MessagePackWriter writer, T? value)
    {
        if (s_nullable && value is null)
        {
            writer.WriteNil();
            return;
        }
        T owner = value!;
        writer.Enter(typeof(T));
        if (writer.Canonical) WriteMembersOfKey(ref writer, ref owner);
        else if (_asArray)
        {
            writer.WriteArrayHeader(_places.Length);
            foreach (Member<T>? member in _places)
            {
                if (member is null) writer.WriteNil();
                else member.Write(ref writer, ref owner);
            }
        }
        else
        {
            writer.WriteMapHeader(_members.Length);
            foreach (Member<T> member in _members)
            {
                writer.WriteRaw(member.Key);
                member.Write(ref writer, ref owner);
            }
        }
        writer.Leave();
    }

    public override T? Read(ref MessagePackReader reader)
    {
        if (s_nullable && reader.TryReadNil()) return default;
        reader.Enter();
        T? value = _taken > 0 ? ReadHeld(ref reader) : ReadInPlace(ref reader);
        reader.Leave();
        return value;
    }

    /// <summary>Writes the same bytes, and names the member when a value cannot be part of a key.</summary>
    private void WriteMembersOfKey(ref MessagePackWriter writer, ref T value)
    {
        if (s_nullable && value!.GetType() != typeof(T))
            throw new ContractException(value.GetType(), $"cannot be (part of) a key that is declared as {ContractException.Name(typeof(T))}: its further members would be lost.");
        int at = 0;
        try
        {
            if (_asArray) writer.WriteArrayHeader(_places.Length);
            else writer.WriteMapHeader(_members.Length);
            for (int count = _asArray ? _places.Length : _members.Length; at < count; at++)
            {
                Member<T>? member = _asArray ? _places[at] : _members[at];
                if (member is null) writer.WriteNil();
                else
                {
                    if (!_asArray) writer.WriteRaw(member.Key);
                    member.Write(ref writer, ref value);
                }
            }
        }
        catch (ContractException e)
        {
            MemberInfo info = (_asArray ? _places[at]! : _members[at]).Contract.Info;
            string inner = e.Member is null ? "" : e.Member[e.Member.IndexOf('.', StringComparison.Ordinal)..];
            throw new ContractException(e.Type, e.Reason, $"{ContractException.Name(typeof(T))}.{info.Name}{inner}");
        }
    }

    private T ReadInPlace(ref MessagePackReader reader)
    {
        T value = _construct is null ? default! : _construct([]);
        int count = Header(ref reader);
        for (int i = 0; i < count; i++)
        {
            if (Next(ref reader, i) is { } member) member.Read(ref reader, ref value);
            else reader.Skip();
        }
        return value;
    }

    private T ReadHeld(ref MessagePackReader reader)
    {
        Holder[] holders = t_spare ?? [.. _members.Select(m => m.NewHolder())];
        t_spare = null;
        int count = Header(ref reader);
        for (int i = 0; i < count; i++)
        {
            if (Next(ref reader, i) is { } member) member.Read(ref reader, holders[member.Index]);
            else reader.Skip();
        }
        T value = _construct!(holders);
        for (int i = 0; i < holders.Length; i++)
        {
            if (holders[i].Seen) _members[i].Set(holders[i], ref value);
            holders[i].Clear();
        }
        t_spare = holders;
        return value;
    }

    private int Header(ref MessagePackReader reader) => _asArray ? reader.ReadArrayHeader() : reader.ReadMapHeader();

    /// <summary>The member whose value comes next; null when it is unknown. The members of a map usually come in order, so the next one is tried first.</summary>
    private Member<T>? Next(ref MessagePackReader reader, int i)
    {
        if (_asArray) return i < _places.Length ? _places[i] : null;
        if (!reader.TryReadRaw(out var key)) throw reader.Unexpected("a key");
        if (i < _members.Length && key.SequenceEqual(_members[i].Key)) return _members[i];
        foreach (Member<T> member in _members)
            if (key.SequenceEqual(member.Key)) return member;
        return null;
    }
}
