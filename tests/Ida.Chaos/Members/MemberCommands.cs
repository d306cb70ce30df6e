namespace Ida.Chaos.Members;

/// <summary>The lines a member obeys.</summary>
internal static class MemberCommands
{
    /// <summary>Put before a write of unknown outcome, as JSON: a member asks for another to take it on, and the driver chooses which.</summary>
    public const string Resolve = "resolve ";

    /// <summary>Put before the name of a fault that begins, at this member or another: for the table of calls.</summary>
    public const string Fault = "fault ";

    /// <summary>Clients end after the operation they are in.</summary>
    public const string Rest = "rest";

    /// <summary>An initialised replica records its state.</summary>
    public const string Final = "final";

    /// <summary>Hands over, says goodbye and ends.</summary>
    public const string Leave = "leave";
}
