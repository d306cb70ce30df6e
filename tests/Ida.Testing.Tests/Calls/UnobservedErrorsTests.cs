using System.Runtime.CompilerServices;

namespace Ida.Testing.Tests.Calls;

/// <summary>A task's error that no code looks at is reported.</summary>
public sealed class UnobservedErrorsTests
{
    [Fact]
    public void A_task_that_fails_unseen_is_found()
    {
        using var unobserved = new UnobservedErrors();
        Fail();
        Assert.Contains("tasks ended with errors that nobody looked at", unobserved.Collect(), StringComparison.Ordinal);
    }

    [Fact]
    public void What_was_found_is_there_before_it_is_told()
    {
        using var unobserved = new UnobservedErrors();
        Fail();
        Assert.True(SpinWait.SpinUntil(() =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            return unobserved.Found is not null;
        }, TimeSpan.FromSeconds(30)));
        Assert.Contains("tasks ended with errors that nobody looked at", unobserved.Collect(), StringComparison.Ordinal);
    }

    [Fact]
    public void What_was_told_is_not_told_again()
    {
        using var unobserved = new UnobservedErrors();
        Fail();
        Assert.NotNull(unobserved.Collect());
        // Perhaps errors of tests that run beside this one, but this error not again.
        Assert.DoesNotContain("unseen", unobserved.Collect() ?? "", StringComparison.Ordinal);
    }

    // In a stack frame of its own, so that nothing refers to the task any more.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fail() => Task.FromException(new InvalidOperationException("unseen"));
}
