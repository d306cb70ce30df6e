namespace Ida.Maps;

/// <summary>Stands in for a map, which an effect may ask for a resolver; nothing here does.</summary>
internal abstract class DeclaredMap : Declared
{
    public Declared? FindResolver(ulong id) => null;
}
