namespace Ida.NetworkMember;

/// <summary>
/// One success of a process that only a member of the primary may have, such as a strict read: at some moment from <see cref="From"/> to <see cref="To"/> it acted in that view.
/// </summary>
/// <param name="Process">Its id.</param>
/// <param name="Address">Its address, which its lives have in common.</param>
/// <param name="System">The system of the Oracle in which it is registered.</param>
/// <param name="View">The view of its group, the same before and after.</param>
/// <param name="Members">The ids of the members of that view.</param>
/// <param name="Kind">What it did.</param>
/// <param name="From">When it began, in nanoseconds of the clock that all processes of the machine share.</param>
/// <param name="To">When it had ended.</param>
internal sealed record Act(string Process, string Address, string System, ulong View, IReadOnlyList<string> Members, string Kind, long From, long To);
