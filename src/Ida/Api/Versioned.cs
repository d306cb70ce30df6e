namespace Ida;

/// <summary>A value and the version of its key: versions of a key rise with every put and are the same at all replicas.</summary>
public readonly record struct Versioned<T>(T Value, ulong Version);
