
namespace GroupCore.Transport.Mesh;

/// <summary>Stands in for the real one: the limit that options are held to.</summary>
internal static class HelloFrame
{
    public const int MaxText = 255;
}
