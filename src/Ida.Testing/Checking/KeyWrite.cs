namespace Ida.Testing.Checking;

/// <summary>One write of a key: which operation (by its index) wrote what; the version is known only from its completion.</summary>
internal readonly record struct KeyWrite(int Operation, HistoryValue Value, long? Version);
