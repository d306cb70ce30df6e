namespace Ida.Testing.Checking;

/// <summary>One read of a key: which operation (by its index) saw what.</summary>
internal readonly record struct KeyRead(int Operation, HistoryValue Value, long? Version);
