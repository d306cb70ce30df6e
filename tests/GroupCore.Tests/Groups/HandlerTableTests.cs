using System.Buffers;
using GroupCore.Groups;
using GroupCore.Groups.Dispatch;

namespace GroupCore.Tests.Groups;

/// <summary>What a member registered for a group, and what a caller may ask of it.</summary>
public sealed class HandlerTableTests
{
    private readonly HandlerTable _table = new();

    [Fact]
    public void A_handler_is_found_by_the_number_of_its_name()
    {
        var entry = Add("deposit", typeof(int));
        Assert.Same(entry, _table.Find(HandlerEntry.IdOf("deposit")));
        Assert.Null(_table.Find(HandlerEntry.IdOf("withdraw")));
    }

    /// <summary>32-bit FNV-1a, as its authors publish it.</summary>
    [Theory]
    [InlineData("", 0x811C9DC5)]
    [InlineData("a", 0xE40C292C)]
    [InlineData("foobar", 0xBF9CF968)]
    public void The_number_of_a_name_is_the_same_everywhere(string name, uint number) => Assert.Equal(number, HandlerEntry.IdOf(name));

    [Fact]
    public void A_name_is_registered_once()
    {
        Add("deposit", typeof(int));
        Assert.StartsWith("The handler 'deposit' is registered twice.", Assert.Throws<ArgumentException>(() => Add("deposit", typeof(string))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_with_one_number_cannot_both_be_registered()
    {
        Add("costarring", typeof(int));
        Assert.Contains("same number on the wire", Assert.Throws<ArgumentException>(() => Add("liquid", typeof(int))).Message, StringComparison.Ordinal);
        Assert.Equal("costarring", _table.Find(HandlerEntry.IdOf("liquid"))!.Name);
    }

    [Fact]
    public void A_group_has_no_more_handlers_than_its_limit()
    {
        for (int i = 0; i < GroupLimits.Handlers; i++) Add($"{i}", typeof(int));
        Assert.Throws<ArgumentException>(() => Add("one more", typeof(int)));
    }

    [Fact]
    public void A_caller_names_a_handler_with_the_types_that_it_has()
    {
        var (deposit, balance) = (Add("deposit", typeof(int)), Add("balance", typeof(string), typeof(long)));
        Assert.Same(deposit, _table.Resolve("bank", "deposit", typeof(int), null));
        Assert.Same(balance, _table.Resolve("bank", "balance", typeof(string), typeof(long)));
    }

    [Theory]
    [InlineData("deposit", typeof(string), null, "takes Int32, not String")]
    [InlineData("deposit", typeof(int), typeof(long), "takes messages and answers no query")]
    [InlineData("balance", typeof(string), null, "answers queries: use a Query call")]
    [InlineData("balance", typeof(string), typeof(int), "answers Int64, not Int32")]
    public void A_caller_with_other_types_is_told_what_the_handler_has(string name, Type message, Type? reply, string said)
    {
        Add("deposit", typeof(int));
        Add("balance", typeof(string), typeof(long));
        Assert.Contains(said, Assert.Throws<WrongHandlerTypeException>(() => _table.Resolve("bank", name, message, reply)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_caller_of_what_is_not_registered_is_told_so()
    {
        Add("deposit", typeof(int));
        Assert.Throws<HandlerNotRegisteredException>(() => _table.Resolve("bank", "Deposit", typeof(int), null));
    }

    private Entry Add(string name, Type message, Type? reply = null)
    {
        var entry = new Entry(name, message, reply);
        _table.Add(entry);
        return entry;
    }

    private sealed class Entry(string name, Type message, Type? reply) : HandlerEntry(name, message, reply)
    {
        public override ValueTask Invoke(MemberRef from, ReadOnlyMemory<byte> payload) => throw new NotSupportedException();

        public override ValueTask<ReplyStatus> Answer(MemberRef from, ReadOnlyMemory<byte> payload, IBufferWriter<byte> reply) => throw new NotSupportedException();
    }
}
