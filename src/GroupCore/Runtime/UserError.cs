namespace GroupCore.Runtime;

/// <summary>What users' code threw, as text. Their exceptions are users' code too: asking one for its message may throw again.</summary>
internal static class UserError
{
    public static string Text(Exception error) => $"{error.GetType().Name}: {Message(error)}";

    /// <summary>The message; the name of the type where there is none. Never empty.</summary>
    public static string Message(Exception error)
    {
        string? message = null;
        try
        {
            message = error.Message;
        }
        catch (Exception)
        {
            // Its type has to do.
        }
        return string.IsNullOrWhiteSpace(message) ? error.GetType().Name : message;
    }
}
