namespace GroupCore.Groups;

/// <summary>A call sends another type than the handler takes.</summary>
public sealed class WrongHandlerTypeException(string handler, string why) : ArgumentException($"The handler '{handler}' {why}.")
{
    /// <summary>Name of the handler.</summary>
    public string Handler { get; } = handler;
}
