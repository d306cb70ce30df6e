using System.Text.Json.Nodes;

namespace Ida.Perf.Macro.Members;

/// <summary>What a member process does in one kind of run.</summary>
internal interface IMember : IAsyncDisposable
{
    /// <summary>Does what a line of the driver says; the answer's fields go back to it.</summary>
    Task<JsonObject> DoAsync(string command, long[] numbers);
}
