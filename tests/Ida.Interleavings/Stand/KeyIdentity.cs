namespace Ida;

/// <summary>Stands in for the real one: how many bytes name the map of a key.</summary>
internal static class KeyIdentity
{
    public const int MapBytes = 8;
}
