namespace GroupCore.Runtime;

/// <summary>What users' code threw, as text. Their exceptions are users' code too: asking one for its message may throw again.</summary>
internal static class UserError
{
    public static string Text(Exception error) => $"{error.GetType().Name}: {Message(error)}";

    /// <summary>With all that is inside of it and where it was thrown; as much as can be had.</summary>
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
            // Its type has to do.
        }
        return string.IsNullOrWhiteSpace(message) ? error.GetType().Name : message;
    }
}
