using GroupCore.Basics;
using GroupCore.Membership;

namespace GroupCore.Groups.Calls;

/// <summary>The shares of the receivers of one group, by rank in the latest view in which a point-to-point message was sent; from any thread.</summary>
internal sealed class PeerShares
{
    private readonly Lock _gate = new();
    private volatile Table? _table;

    /// <summary>The share of a member of a view.</summary>
    public PeerShare Of(View view, int rank)
    {
        var table = _table;
        if (table is not null && ReferenceEquals(table.View, view) && table.Shares[rank] is { } share) return share;
        using (_gate.Hold())
        {
            if (_table is not { } latest || latest.View.Id < view.Id) _table = latest = Next(view, _table);
            // A caller may still be in an earlier view: to a member that is only in that view nothing is sent any more.
            if (!ReferenceEquals(latest.View, view)) rank = latest.View.RankOf(view.Members[rank].Id) is >= 0 and var now ? now : -1 - rank;
            return rank < 0 ? new(view.Members[-1 - rank]) : latest.Shares[rank] ??= new(latest.View.Members[rank]);
        }
    }

    /// <summary>Nothing has happened for some time: releases memory that grew.</summary>
    public void Trim()
    {
        using (_gate.Hold())
        {
            if (_table is { } table && !Array.Exists(table.Shares, static share => share is { IsUsed: true })) _table = null;
        }
    }

    // Shares in use go on counting in the next view.
    private static Table Next(View view, Table? earlier)
    {
        var next = new Table(view, new PeerShare?[view.Members.Count]);
        foreach (var share in earlier?.Shares ?? [])
            if (share is { IsUsed: true } && view.RankOf(share.Receiver) is >= 0 and var rank) next.Shares[rank] = share;
        return next;
    }

    private sealed record Table(View View, PeerShare?[] Shares);
}
