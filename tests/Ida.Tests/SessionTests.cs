using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What a participant remembers of refused attempts is bounded, and never forgets that it refused one.</summary>
public sealed class SessionTests
{
    [Theory]
    [InlineData(1, false)]
    [InlineData(300_000, false)]
    [InlineData(1, true)]
    public void F24_refused_attempts_stay_refused_in_bounded_memory(int perOperation, bool acknowledges)
    {
        var session = new Session(7);
        var refused = new List<OpKey>();
        for (int i = 0; i < 300_000; i++)
        {
            var key = new OpKey(new(7, 1 + (ulong)(i / perOperation)), 1 + (uint)(i % perOperation));
            session.Poison(key);
            Assert.True(session.IsPoisoned(key));
            if (acknowledges && i % 1_000 == 0) session.Acknowledge(key.Id.Sequence);
            if (i % 50 == 0) refused.Add(key);
            Assert.InRange(session.PoisonedCount, 0, Session.MostPoisoned);
        }
        Assert.All(refused, key => Assert.True(session.IsPoisoned(key)));
        // New puts are not refused with the old ones; and nothing is when acknowledgements keep the memory short.
        Assert.False(session.IsPoisoned(new(new(7, 400_000), 1)));
        if (acknowledges) Assert.False(session.RefusesAll(299_000));
        session.ForgetPoison();
        if (!acknowledges) Assert.False(session.IsPoisoned(refused[0]));
    }

    [Fact]
    public void Sessions_of_members_lost_first_are_forgotten_and_the_last_are_kept()
    {
        var sessions = new SessionTable();
        for (uint i = 1; i <= 12_000; i++) sessions.GetOrAdd(i).LostIn = i % 100 == 0 ? Session.NotHeard : 1 + (i / 7);
        sessions.Update([5, 20_000], 5_000);
        Assert.Equal(2 + SessionTable.KeptLost, sessions.All.Count);
        Assert.NotNull(sessions.Find(5));
        Assert.NotNull(sessions.Find(12_000));
        Assert.Null(sessions.Find(6));
    }
}
