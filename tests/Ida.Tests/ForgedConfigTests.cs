using Ida.ViewChange;

namespace Ida.Tests;

/// <summary>A member that says at a view change that the DHT is another one, once.</summary>
public sealed class ForgedConfigTests
{
    /// <summary>It names itself the oldest, so that its word counts. Who is a member by other options ends: with these every key would lie elsewhere.</summary>
    [Fact]
    public async Task R_a_member_that_says_another_number_of_shards_ends_the_others_with_an_error()
    {
        const int Liar = 1;
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => put.IsCompletedSuccessfully, "The put");
        world.Settle();
        world.Crash(world.Members[0], loseAll: true);
        world.Lies = static (member, bytes) => member.Index == Liar ? Forged(member, bytes, static config => config with { ShardSize = 1, TargetSize = 1 }, admitted: 1) : bytes;
        world.ChangeView();
        foreach (var member in world.Members.Where(static one => one.Index > Liar))
        {
            var layer = member.Host.Current!;
            Assert.IsType<DhtConfigurationException>(layer.Ended);
            Assert.Equal(0, layer.Participant.Table.Count);
            var read = member.Dht.Map<string, long>("m").OrderedGetAsync("a0").AsTask();
            world.Poke();
            await Assert.ThrowsAsync<DhtConfigurationException>(() => read);
        }
    }

    /// <summary>It has a slot of the new view, as all decide, in which it does not answer any more.</summary>
    [Fact]
    public async Task A_member_that_ends_for_other_options_does_not_keep_its_slot()
    {
        const int Misquoted = 3;
        var world = DhtWorld.Founded(4);
        world.Lies = static (member, bytes) => member.Index == Misquoted ? Forged(member, bytes, static config => config with { Registry = config.Registry + 1 }) : bytes;
        world.ChangeView();
        world.Lies = null;
        Assert.IsType<DhtConfigurationException>(world.Members[Misquoted].Host.Current!.Ended);
        var put = world.Members[0].Dht.Map<string, long>("m").OrderedPutAsync("a1", 1L).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put", steps: 100);
        Assert.Single((await put).Versions);
    }

    /// <summary>What a member says, with another configuration.</summary>
    private static byte[] Forged(HarnessMember member, byte[] bytes, Func<DhtConfig, DhtConfig> other, ulong? admitted = null)
    {
        var said = Contribution.Read(member.Self, bytes)!;
        var lie = new Contribution
        {
            Config = other(said.Config),
            Enabled = true,
            Session = said.Session,
            Incarnation = said.Incarnation,
            Admitted = admitted ?? said.Admitted,
            Slot = said.Slot,
            Initialised = said.Initialised,
            Physical = said.Physical,
            Committed = said.Committed,
        };
        var into = new System.Buffers.ArrayBufferWriter<byte>();
        lie.Write(into);
        return into.WrittenSpan.ToArray();
    }
}
