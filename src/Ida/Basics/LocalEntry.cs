namespace Ida;

/// <summary>One entry of a member's slice as bytes.</summary>
/// <param name="Key">8 bytes that name the map, then the key's bytes.</param>
/// <param name="Version">Its version.</param>
/// <param name="Value">Its serialized value.</param>
public readonly record struct LocalEntry(ReadOnlyMemory<byte> Key, ulong Version, ReadOnlyMemory<byte> Value);
