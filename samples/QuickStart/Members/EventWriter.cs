using System.Text.Json;
using QuickStart.Protocol;

namespace QuickStart.Members;

/// <summary>Writes events to the conductor, a whole line at a time, from any thread.</summary>
internal sealed class EventWriter(Stream output)
{
    private readonly Lock _lock = new();

    public void Write(MemberEvent happened)
    {
        byte[] line = [.. JsonSerializer.SerializeToUtf8Bytes(happened, LineJson.Default.MemberEvent), (byte)'\n'];
        lock (_lock)
        {
            output.Write(line);
            output.Flush();
        }
    }
}
