namespace GroupCore.Groups;

/// <summary>A call sends another type than the handler takes.</summary>
public sealed class WrongHandlerTypeException(string handler, string why) : ArgumentException($"The handler '{handler}' {why}.")
{
    /// <summary>The name.</summary>
    public string Handler { get; } = handler;
}
