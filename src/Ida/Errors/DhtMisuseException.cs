namespace Ida;

/// <summary>The call, an option or a declaration is wrong: correct the program. Nothing of the call was executed, if the exception does not say otherwise.</summary>
public abstract class DhtMisuseException(string message, Exception? inner = null) : DhtException(message, inner);
