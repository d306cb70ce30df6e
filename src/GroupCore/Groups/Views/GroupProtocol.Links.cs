using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>What happens on the links to the members: a lost link is replaced, a link has room, a member is known to be in the view.</summary>
internal sealed partial class GroupProtocol
{
    private const int WhoWantRoom = 5;
    private readonly RoomTurns _roomTurns = new(WhoWantRoom);

    /// <summary>A link is up: it may now be known to be the member's, and then what came over it before counts as sent by that member.</summary>
    public void OnLinkUp(int peer)
    {
        if (View is null || IsOver || Links.RankOf(peer) is not (>= 0 and var rank) || !Links.TrySettle(rank)) return;
        Touch();
        bool here = _host.Bindings.IsIn(peer, View.Group, View.Id) && Links.TryMeet(rank);
        CheckLost(View);
        if (_early.Holds(peer) || _strangers?.Holds(peer) == true) ReplayEarly(View);
        if (here) Layers.OnRoom(rank);
    }

    /// <summary>A peer says which view the frames that follow belong to.</summary>
    public void OnBound(int peer, ulong view)
    {
        if (View?.Id != view || IsOver || Links.RankOf(peer) is not (>= 0 and var rank)) return;
        Touch();
        if (Links.TryMeet(rank)) Layers.OnRoom(rank);
    }

    /// <summary>Tells every member which view the frames that follow on its link belong to.</summary>
    private void BindAll(View view)
    {
        if (view.Members.Count == 1) return;
        BindTable.Write(Links.Frame(FrameType.Bind, BindTable.Body), view.Group, view.Id);
        Links.SendToOthers();
    }

    /// <summary>
    /// A link has room again: what waits for it goes on. Answers, a joiner's state, the layers, multicasts and messages to one member take turns at being
    /// first (<see cref="RoomTurns"/>).
    /// </summary>
    public void OnRoom(int peer)
    {
        if (View is null || IsOver || Links.RankOf(peer) is not (>= 0 and var rank)) return;
        Touch();
        Flush.OnRoom(rank);
        if (_queue.Count > 0) Links.NoteRoom(rank);
        int first = _roomTurns.Next(rank);
        for (int i = first; i < first + WhoWantRoom; i++)
        {
            switch (i % WhoWantRoom)
            {
                case 0: Replies.OnRoom(rank); break;
                case 1: Offer.OnRoom(rank); break;
                case 2: Layers.OnRoom(rank); break;
                case 3: DrainCalls(); break;
                default: Peers.SendWaiting(); break;
            }
        }
    }

    /// <summary>A link is over, a member's or a stranger's: drops frames held under its number, which will never have a sender.</summary>
    public void DropEarly(int peer)
    {
        _early.Drop(peer, Node.Counters);
        _strangers?.Drop(peer, Node.Counters);
    }

    /// <summary>
    /// The link to a member is over although both live, and what was on it is lost. Over a new link the flush for a view with the same members brings the multicasts,
    /// and the layers issue their work again; until then no frame of a layer passes between the two. Lost point-to-point messages are never acknowledged, so the flush
    /// suspects the member; queries whose answers were lost end here. After a second loss in one view the member is suspected at once.
    /// </summary>
    public void OnLinkLost(int peer)
    {
        if (View is null || IsOver || Links.RankOf(peer) is not (>= 0 and var rank)) return;
        Touch();
        // The member is out of the next view.
        if (!Links.IsHeld(rank)) return;
        Links.Relink(rank);
        BindTable.Write(Links.Frame(FrameType.Bind, BindTable.Body), View.Group, View.Id);
        Links.SendTo(rank);
        Peers.OnLinkLost(rank);
        Offer.OnLinkLost(rank);
        Queries.OnLinkLost(View.Members[rank].Id, View.Id);
        if (Links.HasLost(rank)) Flush.Suspect(rank);
        Links.MarkLost(rank);
        if (IsWedged) Flush.OnRelinked(rank);
        else Membership.RequestView(View.Group);
    }
}
