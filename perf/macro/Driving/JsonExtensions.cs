using System.Text.Json.Nodes;

namespace Ida.Perf.Macro.Driving;

/// <summary>Fields of a member's answer.</summary>
internal static class JsonExtensions
{
    public static long Number(this JsonObject answer, string name) => (long)answer[name]!;

    public static string Text(this JsonObject answer, string name) => (string)answer[name]!;
}
