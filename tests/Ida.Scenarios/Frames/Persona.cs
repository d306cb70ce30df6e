namespace Ida.Scenarios;

/// <summary>Who sends hostile frames.</summary>
internal enum Persona
{
    /// <summary>A node that the system does not know, and that never asks it to.</summary>
    Stranger,

    /// <summary>The same, and it reads no answer to what it asks.</summary>
    Deaf,

    /// <summary>A node that was a member and left.</summary>
    Former,

    /// <summary>A node that may have itself registered among other things: then it is a process of the system, and the others may believe what it says.</summary>
    Registering,
}
