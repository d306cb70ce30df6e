namespace Ida.NetworkMember;

/// <summary>The process is told everything by its command line and its input, and ends with its input.</summary>
internal static class Program
{
    public static Task<int> Main(string[] args) => MemberProgram.RunAsync(NetworkPlace.Parse(args));
}
