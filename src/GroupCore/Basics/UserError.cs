namespace GroupCore.Basics;

/// <summary>Exceptions of user code, as text. They are user code too: asking one for its message may throw again.</summary>
internal static class UserError
{
    public static string Text(Exception error) => $"{error.GetType().Name}: {Message(error)}";

    /// <summary>The text with inner exceptions and stack traces; as much as can be had.</summary>
    public static string Whole(Exception error)
    {
        try
        {
            return error.ToString();
        }
        catch (Exception)
        {
            return error.InnerException is { } inner ? $"{Text(error)} ---> {Whole(inner)}" : Text(error);
        }
    }

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
            // The name of its type has to do.
        }
        return string.IsNullOrWhiteSpace(message) ? error.GetType().Name : message;
    }
}
