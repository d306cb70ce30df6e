namespace Ida.Coordination;

/// <summary>Whether all those who have to be asked can be sent an operation now.</summary>
internal enum Reach
{
    /// <summary>They can.</summary>
    All,

    /// <summary>There is no room on the link to one of them.</summary>
    SomeFull,

    /// <summary>One of them is not known to have installed the view yet.</summary>
    SomeLate,
}
