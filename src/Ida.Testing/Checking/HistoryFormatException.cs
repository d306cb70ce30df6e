namespace Ida.Testing.Checking;

/// <summary>A history breaks its format. The message names the line or the operation, and what is wrong with it.</summary>
public sealed class HistoryFormatException(string message, Exception? inner = null) : FormatException(message, inner);
