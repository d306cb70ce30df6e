using System.Diagnostics.CodeAnalysis;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <inheritdoc/>
internal sealed class Member<TOwner, TMember> : Member<TOwner>
{
    private readonly Getter<TOwner, TMember> _get;
    private readonly Setter<TOwner, TMember>? _set;
    private Formatter<TMember> _formatter = null!;

    [RequiresUnreferencedCode("Uses members by reflection.")]
    public Member(ContractMember contract)
        : base(contract)
    {
        _get = Accessors.Getter<TOwner, TMember>(contract.Info);
        if (contract.Writable) _set = Accessors.Setter<TOwner, TMember>(contract.Info);
    }

    public override Formatter Formatter => _formatter;

    public override void Complete(IFormatterSource source) => _formatter = source.Get<TMember>("." + Contract.Info.Name);

    public override void Write(ref MessagePackWriter writer, ref TOwner owner) => _formatter.Write(ref writer, _get(ref owner));

    public override void Read(ref MessagePackReader reader, ref TOwner owner)
    {
        if (_set is null) reader.Skip();
        else _set(ref owner, _formatter.Read(ref reader));
    }

    public override void Read(ref MessagePackReader reader, Holder holder)
    {
        ((Holder<TMember>)holder).Value = _formatter.Read(ref reader);
        holder.Seen = true;
    }

    public override void Set(Holder holder, ref TOwner owner) => _set?.Invoke(ref owner, ((Holder<TMember>)holder).Value!);

    public override Holder NewHolder() => new Holder<TMember>(Contract.Default is TMember value ? value : default);
}
