using System.Diagnostics;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A batch of frames of a member that lies, in the middle of the work of all. With <paramref name="Membership"/> it lies to the Oracle, too.
/// </summary>
/// <remarks>
/// What must hold: no turn throws. A call with a bound of its own ends by it. The members that stay deliver the ordered messages of the honest ones in one order, and go on
/// together, at the latest when the liar is stopped. A process of the system may have others excluded (SECURITY.md): an excluded member ends with the typed
/// error, and so do all its calls. Nobody need go on after lies to the Oracle, which may hold the system up; nor need a member that is left alone.
/// </remarks>
internal sealed record MemberBatch(ulong Seed, int Count, bool Membership, bool Replaces)
{
    private const int MostRounds = 6, EachRound = 40;
    private static readonly TimeSpan s_round = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_alone = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_attempt = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    public static MemberBatch Of(ulong seed, long index, int count)
    {
        var random = new Prng(seed ^ (0x9E3779B97F4A7C15UL * (ulong)(index + 1)));
        return new(random.NextUInt64(), count, random.Next(4) == 0, random.Next(2) == 0);
    }

    public async Task<MemberResult> RunAsync(FrameVictims system, IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> samples, FrameTally tally)
    {
        var random = new Prng(Seed);
        var work = new MemberWork(system);
        using (var stranger = new Stranger(system.Members[0], system.NameOf(Persona.Stranger, random.NextUInt64()), random.NextUInt64() | 1))
        {
            if (stranger.Learn(system, registering: false) is not { } context) return new($"no member answers: {stranger.Refusal}", false, 0);
            var hand = new HostileHand(context, samples, random, tally, Count, Membership, Replaces);
            system.Lies!.Arm(hand);
            for (int round = 0; round < MostRounds && !hand.IsDone && system.Broken(mayBeExcluded: true) is null; round++)
            {
                if (await work.RoundAsync(round, EachRound, s_round, s_patience) is { } waits) return new(waits, false, 0);
            }
            system.Lies.Arm(null);
        }
        var going = new MemberProgress(system);
        bool went = system.Standing.Count == system.Members.Count && await going.TryAsync(s_alone) is null;
        if (!went) await system.Hostile!.Loop.StopAsync();
        string? failure = Membership || went ? null : await going.GoOnAsync(s_attempt, s_patience);
        failure ??= system.Broken(mayBeExcluded: true) ?? await ExcludedAsync(system);
        if (failure is null && !Membership && (went || system.Standing.Count > 1)) failure = await work.EndAsync(s_patience);
        return new(failure ?? going.Disorder(), went, system.Members.Count - system.Standing.Count);
    }

    // A process that is no longer a member must have been told so with the right error.
    private static async Task<string?> ExcludedAsync(FrameVictims system)
    {
        foreach (var member in system.Members.Except(system.Standing))
        {
            // The group's end says it first; the node's follows when it is excluded from the system.
            var end = member.Node.State == MembershipState.Active ? member.Group.Completion : member.Node.Completion;
            var watch = Stopwatch.StartNew();
            try
            {
                await end.WaitAsync(s_patience);
            }
            catch (TimeoutException)
            {
                return $"{member.Node.Id} is {member.Node.State} and does not end in {watch.Elapsed.TotalSeconds:F0} s";
            }
            catch (Exception error) when (error is GroupCore.Groups.ExcludedException or GroupCore.Groups.NotMemberException)
            {
                continue;
            }
            catch (Exception error) when (error is not OutOfMemoryException)
            {
                return $"{member.Node.Id} ended with {error}";
            }
        }
        return null;
    }
}
