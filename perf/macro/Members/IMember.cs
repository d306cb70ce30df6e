using System.Text.Json.Nodes;

namespace Ida.Perf.Macro.Members;

/// <summary>What a member process does in one kind of run.</summary>
internal interface IMember : IAsyncDisposable
{
    /// <summary>Carries out one line of the driver and returns the fields of the answer.</summary>
    Task<JsonObject> DoAsync(string command, long[] numbers);
}
