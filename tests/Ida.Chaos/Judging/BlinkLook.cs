using Ida.Chaos.Members;

namespace Ida.Chaos.Judging;

/// <summary>
/// What the driver saw while it watched for seconds. A member that was not heard from may have had no time: that hinders a judgement, unless nothing has changed.
/// A member that speaks, and says that its DHT keeps silent, has noticed something.
/// </summary>
internal sealed class BlinkLook
{
    /// <summary>The first thing that stood in the way of a judgement; null: nothing.</summary>
    public string? Hindered { get; private set; }

    /// <summary>The first member whose DHT said nothing for a second, by the member's own word; null: none.</summary>
    public string? Silent { get; private set; }

    /// <summary>Notes how the driver itself was held up.</summary>
    public void Hinder(string how) => Hindered ??= how;

    /// <summary>Notes whether a member was heard from within the last second, and what it said last.</summary>
    public void Note(string name, bool isHeard, MemberStatus said)
    {
        if (!isHeard) Hindered ??= $"{name} said nothing for a second";
        else if (!said.IsAnswered) Silent ??= $"{name}'s DHT has not answered it for a second";
    }
}
