using Ida.Boundary;

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
        world.Lies = static (member, bytes) =>
        {
            if (member.Index != Liar) return bytes;
            var said = Contribution.Read(member.Self, bytes)!;
            var lie = new Contribution
            {
                Config = said.Config with { ShardSize = 1, TargetSize = 1 },
                Enabled = true,
                Session = said.Session,
                Incarnation = said.Incarnation,
                Admitted = 1,
                Slot = said.Slot,
                Full = said.Full,
                Physical = said.Physical,
                Committed = said.Committed,
            };
            var into = new System.Buffers.ArrayBufferWriter<byte>();
            lie.Write(into);
            return into.WrittenSpan.ToArray();
        };
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
}
