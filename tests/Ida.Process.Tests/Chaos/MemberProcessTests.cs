using System.Diagnostics;
using Ida.Chaos.Driving;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;
using Ida.Testing.Calls;

namespace Ida.Process.Tests.Chaos;

/// <summary>How chaos judges the end of a member: only a member that it killed or told to leave may end.</summary>
public sealed class MemberProcessTests
{
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task A_member_that_ends_by_itself_is_at_fault_even_if_it_is_killed_afterwards()
    {
        using var member = Start("echo 'Error: the fault' >&2; exit 3");
        await member.WaitForExitAsync(s_bound, "told to");
        Assert.True(member.EndedOnItsOwn);
        member.Kill();
        Assert.True(member.EndedOnItsOwn);
        Assert.Equal(3, member.ExitCode);
        Assert.Equal("exit code 3 Error: the fault", member.LastWords);
    }

    [Fact]
    public async Task A_member_that_is_killed_is_not_at_fault()
    {
        using var member = Start("echo ready; read line");
        Assert.Null(member.ExitCode);
        Assert.False(member.EndedOnItsOwn);
        member.Kill();
        await member.WaitForExitAsync(s_bound, "told to");
        Assert.Equal(137, member.ExitCode);
        Assert.False(member.EndedOnItsOwn);
    }

    /// <summary>The runtime has reported the exception but has not ended the process yet.</summary>
    [Fact]
    public async Task A_member_that_is_killed_while_an_exception_ends_it_is_at_fault()
    {
        using var member = Start("read line; echo 'Unhandled exception. System.Exception: the fault' >&2; echo '{\"Answer\":\"rest\"}'; read line");
        await member.AskAsync(MemberCommands.Rest, s_bound);
        member.Kill();
        await member.WaitForExitAsync(s_bound, "told to");
        Assert.Equal(137, member.ExitCode);
        Assert.True(member.EndedOnItsOwn);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(134)]
    public async Task A_member_that_was_told_to_leave_is_judged_by_its_exit_code(int code)
    {
        using var member = Start($"read line; exit {code}");
        member.MayEnd = true;
        member.Tell(MemberCommands.Leave);
        await member.WaitForExitAsync(s_bound, "told to");
        Assert.Equal(code, member.ExitCode);
        Assert.False(member.EndedOnItsOwn);
    }

    [Fact]
    public async Task A_member_that_ends_before_it_answers_is_not_waited_for()
    {
        using var member = Start("read line; echo 'Error: the fault' >&2; exit 3");
        var failure = await Assert.ThrowsAsync<ChaosFailedException>(() => member.AskAsync(MemberCommands.Rest, s_bound));
        Assert.Contains("ended on its own", failure.Message, StringComparison.Ordinal);
        Assert.Contains("exit code 3 Error: the fault", failure.Message, StringComparison.Ordinal);
    }

    /// <summary>What a member said last is heard, even if the member was killed right after it.</summary>
    [Fact]
    public async Task What_a_member_that_is_killed_has_found_is_kept()
    {
        var findings = new Findings();
        using var member = Start($"read line; {Echo(new() { Wrong = "a call is late" })}; {Echo(new() { Answer = MemberStatus.Note, Calls = [new(CallKind.Send, CallTable.OfFault("kill"), 3)] })}; kill -9 $$");
        member.Said = (one, said) => findings.Note(one.Name, said);
        member.Tell(MemberCommands.Fault + "kill");
        await member.WaitForExitAsync(s_bound, "killed");
        Assert.Equal("calls of m0.1: a call is late", Assert.Single(findings.Wrong));
        Assert.Equal(3, findings.Calls()[CallKind.Send, "fault: kill"]);
        Assert.Empty(findings.Unmet(["kill"]));
    }

    /// <summary>A process that speaks while its DHT does not answer it is as silent as one that says nothing.</summary>
    [Fact]
    public async Task A_member_whose_dht_does_not_answer_it_is_not_fresh()
    {
        using var member = Start($"read line; {Echo(new() { UnansweredMs = 1_000 })}; {Echo(new() { Answer = MemberCommands.Rest })}; read line; {Echo(new() { UnansweredMs = 999 })}; {Echo(new() { Answer = MemberCommands.Final })}; read line");
        await member.AskAsync(MemberCommands.Rest, s_bound);
        Assert.Equal((1_000, false), (member.Status.UnansweredMs, member.IsFresh));
        await member.AskAsync(MemberCommands.Final, s_bound);
        Assert.Equal(999, member.Status.UnansweredMs);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(999, true)]
    [InlineData(1_000, false)]
    public async Task A_member_that_speaks_is_fresh_when_its_dht_answers_it_within_a_second(long unanswered, bool fresh)
    {
        using var member = Start($"while sleep 0.1; do {Echo(new() { UnansweredMs = unanswered })}; done");
        // On a busy machine its lines may be late, but not all of them.
        var heard = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        member.Said = (one, _) =>
        {
            if (fresh ? one.IsFresh : one.IsHeard) heard.TrySetResult(one.IsFresh);
        };
        Assert.Equal(fresh, await heard.Task.WaitAsync(s_bound));
    }

    [Fact]
    public async Task A_member_that_has_stopped_speaking_is_neither_heard_nor_fresh()
    {
        using var member = Start($"read line; {Echo(new())}; {Echo(new() { Answer = MemberCommands.Rest })}; read line");
        Assert.False(member.IsHeard);
        await member.AskAsync(MemberCommands.Rest, s_bound);
        Assert.True(SpinWait.SpinUntil(() => !member.IsHeard, s_bound));
        Assert.False(member.IsFresh);
    }

    [Fact]
    public async Task A_member_that_does_not_end_is_named()
    {
        using var member = Start("echo 'what it does' >&2; read line; echo '{\"Answer\":\"rest\"}'; read line; read line");
        await member.AskAsync(MemberCommands.Rest, s_bound);
        var failure = await Assert.ThrowsAsync<ChaosFailedException>(() => member.WaitForExitAsync(TimeSpan.FromMilliseconds(100), "killed"));
        Assert.Matches("^m0.1 hangs: it was killed 0 s ago. Its last words: ", failure.Message);
    }

    /// <summary>What is longer than a pipe takes at once goes in parts, and a part of another writer might come between them.</summary>
    [Fact]
    public async Task Lines_of_two_writers_to_a_member_at_once_do_not_mix()
    {
        const int Each = 200, Length = 30_000;
        using var member = Start($"test $(head -n {2 * Each} | sort -u | wc -l) -eq 2");
        member.MayEnd = true;
        await Task.WhenAll(Task.Run(() => Tell('a')), Task.Run(() => Tell('b')));
        await member.WaitForExitAsync(s_bound, "told enough");
        Assert.Equal(0, member.ExitCode);

        void Tell(char letter)
        {
            for (int i = 0; i < Each; i++) member.Tell(new string(letter, Length));
        }
    }

    private static string Echo(MemberStatus status) => $"echo '{status.ToLine()}'";

    private static MemberProcess Start(string script)
    {
        var start = new ProcessStartInfo("/bin/sh");
        start.ArgumentList.Add("-c");
        start.ArgumentList.Add(script);
        return MemberProcess.Start(new("m0.1", "chaos", "127.0.0.1:1", "127.0.0.1:1", [], 2, 4, 1, 1, "none", TimeSpan.Zero), start);
    }
}
