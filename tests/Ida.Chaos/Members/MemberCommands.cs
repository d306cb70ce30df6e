namespace Ida.Chaos.Members;

/// <summary>The lines a member obeys.</summary>
internal static class MemberCommands
{
    /// <summary>Precedes a write of unknown outcome, as JSON: a member asks that another one take it on, and the driver chooses which.</summary>
    public const string Resolve = "resolve ";

    /// <summary>Precedes the name of a fault that is about to begin, at this member or another: for the table of calls.</summary>
    public const string Fault = "fault ";

    /// <summary>Clients end after the operation they are in.</summary>
    public const string Rest = "rest";

    /// <summary>An initialised replica records its state.</summary>
    public const string Final = "final";

    /// <summary>Hands over, says goodbye and ends.</summary>
    public const string Leave = "leave";
}
