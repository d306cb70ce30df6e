namespace Ida;

/// <summary>The call, an option or a declaration is wrong: correct the program. Nothing of the call was executed, unless the exception says otherwise.</summary>
public abstract class DhtMisuseException(string message, Exception? inner = null) : DhtException(message, inner);
