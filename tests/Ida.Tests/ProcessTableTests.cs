using System.Diagnostics;
using Ida.Nodes;

namespace Ida.Tests;

/// <summary>Only what was positively seen proves that a process is gone.</summary>
public sealed class ProcessTableTests
{
    private static readonly ProcessTable Table = new();

    [Fact]
    public void F33_a_process_that_lives_is_there_and_one_of_another_start_is_not()
    {
        Assert.SkipUnless(ProcessTable.Host.Length > 0, "There is no /proc here.");
        Assert.False(Table.IsGone(Environment.ProcessId, ProcessTable.OwnStart));
        Assert.True(Table.IsGone(Environment.ProcessId, ProcessTable.OwnStart + 1));
    }

    [Fact]
    public void F33_a_process_that_was_killed_is_gone_before_and_after_its_number_is_free()
    {
        Assert.SkipUnless(ProcessTable.Host.Length > 0, "There is no /proc here.");
        using var child = Process.Start("sleep", "60");
        Assert.True(ProcessTable.TryFind(child.Id, out long? start));
        Assert.False(Table.IsGone(child.Id, start!.Value));
        child.Kill();
        Assert.True(child.WaitForExit(10_000));
        Assert.True(Table.IsGone(child.Id, start.Value));
    }

    /// <summary>No descriptor is free, or processes are hidden: what cannot be read proves nothing.</summary>
    [Fact]
    public void F33_a_process_whose_entry_cannot_be_read_is_there_as_long_as_its_number_is_taken()
    {
        Assert.SkipUnless(ProcessTable.Host.Length > 0, "There is no /proc here.");
        var unreadable = new ProcessTable(Path.Combine(AppContext.BaseDirectory, "no-such-folder"));
        Assert.False(unreadable.IsGone(Environment.ProcessId, ProcessTable.OwnStart));
        Assert.False(unreadable.IsGone(Environment.ProcessId, ProcessTable.OwnStart + 1));
    }

    /// <summary>The entries of such numbers cannot be read, which proves nothing; and the system has no answer about a number that no process can have.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(int.MinValue)]
    public void F33_what_cannot_be_looked_at_is_not_gone(int number)
    {
        Assert.False(ProcessTable.TryFind(number, out _));
        Assert.False(Table.IsGone(number, 1));
    }
}
