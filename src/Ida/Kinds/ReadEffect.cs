namespace Ida.Kinds;

/// <summary>Reads the key; the effect on all keys of a get.</summary>
internal sealed class ReadEffect() : KeyEffect(0)
{
    public override bool Changes => false;

    public override string ToString() => "read";
}
