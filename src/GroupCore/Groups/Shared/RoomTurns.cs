namespace GroupCore.Groups.Shared;

/// <summary>
/// Which of several users of a link is the first to use its room: each in turn, on each link by itself. A user may have more to send than the link takes, as long as the
/// load lasts: if it were always first, it would take all the room.
/// </summary>
internal sealed class RoomTurns(int users)
{
    // By rank: the user that is first the next time.
    private byte[] _first = [];

    /// <summary>The link to a member has room: the number of the user that is first, from 0 on. The others follow in their order, and after the last one comes user 0.</summary>
    public int Next(int rank)
    {
        if (rank >= _first.Length) Array.Resize(ref _first, rank + 1);
        int first = _first[rank];
        _first[rank] = (byte)((first + 1) % users);
        return first;
    }
}
