namespace GroupCore.Groups;

/// <summary>A call sends a type other than the one that the handler takes.</summary>
public sealed class WrongHandlerTypeException(string handler, string why) : ArgumentException($"The handler '{handler}' {why}.")
{
    /// <summary>Name of the handler.</summary>
    public string Handler { get; } = handler;
}
