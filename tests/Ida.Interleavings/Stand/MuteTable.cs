
namespace GroupCore.Transport.Mesh;

/// <summary>Stands in for the real one: the default of an option.</summary>
internal static class MuteTable
{
    public const int Malformed = 100;
}
