namespace GroupCore.Groups;

/// <summary>So many calls wait for the window of the group that one more is refused.</summary>
public sealed class SendQueueFullException(string group, int calls) : InvalidOperationException($"{calls} calls already wait to send to group '{group}': await them before you send more.");
