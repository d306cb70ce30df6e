namespace GroupCore.Runtime;

/// <summary>What users' code threw, as text. Their exceptions are users' code too: asking one for its message may throw again.</summary>
internal static class UserError
{
    public static string Text(Exception error) => $"{error.GetType().Name}: {Message(error)}";

    public static string Message(Exception error)
    {
        try
        {
            return error.Message ?? "(without a message)";
        }
        catch (Exception)
        {
            return "(its message throws)";
        }
    }
}
