namespace Ida.NetworkMember;

/// <summary>The lines a member obeys, besides those of chaos for the end of the clients and for leaving.</summary>
internal static class NetworkCommands
{
    /// <summary>Precedes the name of a trial: join its group, enable its DHT, let clients work. Answered when they do.</summary>
    public const string Serve = "serve ";

    /// <summary>Record the final state if there is one, and leave the trial's group.</summary>
    public const string End = "end";

    /// <summary>Precedes a name of a machine. The answer's <c>State</c> has its addresses as this process finds them.</summary>
    public const string LookUp = "look up ";
}
