using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>One event on its way to the user's logger.</summary>
internal abstract class LogLine(string category)
{
    /// <summary>The name of the logger that gets it.</summary>
    public string Category => category;

    /// <summary>Hands it to the logger, which is user code: only <see cref="LogQueue"/> calls this.</summary>
    public abstract void Write(ILogger logger);
}
