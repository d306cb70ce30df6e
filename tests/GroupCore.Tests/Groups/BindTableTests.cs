using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>A lookup finds what a peer announced last of its slots.</summary>
public sealed class BindTableTests
{
    private const int Peers = 3;

    /// <summary>With few slots, which are searched one by one, and with more than that.</summary>
    [Theory]
    [InlineData(1, 20)]
    [InlineData(2, 20)]
    [InlineData(3, 200)]
    [InlineData(4, 200)]
    public void A_peer_is_in_the_view_that_it_announced_last_of_a_group(ulong seed, int slots)
    {
        var random = new Prng(seed);
        var table = new BindTable();
        var bound = new Dictionary<(int Peer, ushort Slot), (GroupId Group, ulong View)>();
        byte[] body = new byte[BindTable.Body];
        int groups = slots * 3 / 4;
        for (int step = 0; step < 6_000; step++)
        {
            int peer = random.Next(Peers);
            var group = new GroupId((uint)random.Next(groups) + 1, 1);
            ushort slot = (ushort)(1 + random.Next(slots));
            int choice = random.Next(400);
            if (choice == 0)
            {
                table.Forget(peer);
                Remove(key => key.Peer == peer);
            }
            else if (choice < 10)
            {
                table.Forget(id => id == group);
                Remove(key => bound[key].Group == group);
            }
            else
            {
                bool known = random.Next(8) != 0;
                ulong view = (ulong)random.Next(30);
                BindTable.Write(body, group, view);
                bool back = known && bound.TryGetValue((peer, slot), out var before) && before.Group == group && view < before.View;
                Assert.Equal(!known ? RefusalReason.StaleView : back ? RefusalReason.Malformed : null, table.OnBind(peer, slot, body, _ => known));
                if (!known) bound.Remove((peer, slot));
                else if (!back)
                {
                    Remove(key => key.Peer == peer && bound[key].Group == group);
                    bound[(peer, slot)] = (group, view);
                }
            }
            Assert.Equal(bound.Count, table.Count);
            Assert.Equal(bound.TryGetValue((peer, slot), out var there) ? there : default((GroupId, ulong)?), table.Find(peer, slot) is { } found ? (found.Id, found.View) : null);
            ulong? of = bound.Where(one => one.Key.Peer == peer && one.Value.Group == group).Select(static one => (ulong?)one.Value.View).FirstOrDefault();
            Assert.Equal(of is not null, table.IsIn(peer, group, of ?? 0));
            Assert.False(table.IsIn(peer, group, (of ?? 0) + 1));
        }

        void Remove(Predicate<(int Peer, ushort Slot)> which)
        {
            foreach (var key in bound.Keys.Where(key => which(key)).ToList()) bound.Remove(key);
        }
    }
}
