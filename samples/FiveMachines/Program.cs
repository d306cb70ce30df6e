using FiveMachines.Conducting;
using FiveMachines.Members;

namespace FiveMachines;

/// <summary>Without arguments, the whole run; <c>member ADDRESS SEED…</c>, one of its processes.</summary>
internal static class Program
{
    public const string MemberCommand = "member";

    public static Task<int> Main(string[] args) => args switch
    {
        [] => Conductor.RunAsync(),
        [MemberCommand, var listen, .. var seeds] => MemberProgram.RunAsync(listen, seeds),
        _ => RefuseAsync(),
    };

    private static Task<int> RefuseAsync()
    {
        Console.Error.WriteLine("This program takes no arguments.");
        return Task.FromResult(2);
    }
}
