using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>
/// What a member hears from each sender on each way, as long as it is in the group: each message once, in order, with none missing after the first that it hears. Messages before that first one
/// are not missed, nor those before a message whose sender does not know what became of its last ones. For one handler at a time.
/// </summary>
internal sealed class HeardMessages
{
    private readonly Dictionary<(string Way, ProcessId From), ulong> _last = [];

    /// <summary>What is wrong with a message that came; null: nothing.</summary>
    public string? Hear(string way, ProcessId from, ulong number, bool anew)
    {
        bool heard = _last.TryGetValue((way, from), out ulong last);
        _last[(way, from)] = number;
        if (heard && number <= last) return $"message {number} of {from} came to '{way}' after message {last}";
        return heard && !anew && number != last + 1 ? $"message {number} of {from} came to '{way}' after message {last}; those between never came" : null;
    }

    /// <summary>
    /// What is wrong if everything up to this number has to be here (0: nobody knows what was sent); null: nothing.
    /// A sender that was never heard on that way may have sent all of it before this member joined.
    /// </summary>
    public string? Expect(string way, ProcessId from, ulong number) =>
        number != 0 && _last.TryGetValue((way, from), out ulong last) && last != number ? $"of {from}, the last message that came to '{way}' is {last}, and message {number} was sent before" : null;
}
