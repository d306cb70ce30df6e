namespace Ida.Kinds;

/// <summary>Changes nothing: the key only has to meet its expectation. Source: dht-order.md#expectations-are-checked-in-the-order.</summary>
internal sealed class CheckEffect() : KeyEffect(4)
{
    public override bool Changes => false;

    public override bool MustExpect => true;

    public override string ToString() => "check";
}
