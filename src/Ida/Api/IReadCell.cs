namespace Ida;

/// <summary>Receives one result of a reading.</summary>
internal interface IReadCell
{
    void Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version);
}
