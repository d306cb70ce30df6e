using GroupCore.Membership;
using GroupCore.Wire.MessagePack;
using Oracle.State.Operations;

namespace Oracle;

/// <content>Requests of the group layer.</content>
internal sealed partial class OracleMember
{
    /// <inheritdoc/>
    public void Join(string name, GroupOptions options, string tag)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(tag);
        if (Refusal(name, tag, options) is { } reason) _sink?.OnJoinRefused(name, reason);
        else Submit(new Join(name, options, _options.Acceptors, tag));
    }

    /// <inheritdoc/>
    public void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(members);
        string? reason = Refusal(name, "", options);
        if (members.Count > Limits.GroupMembers) reason = $"a group has {Limits.GroupMembers} members at most, {members.Count} were named";
        if (reason is not null) _sink?.OnJoinRefused(name, reason);
        else Submit(new Create(name, options, _options.Acceptors, members));
    }

    /// <inheritdoc/>
    public void Leave(GroupId group)
    {
        if (!_over) Submit(new Leave(group));
    }

    /// <inheritdoc/>
    public void RequestView(GroupId group)
    {
        if (!_over && _groups.ViewOf(group) is > 0 and ulong view) Submit(new Renew(group, view));
    }

    /// <inheritdoc/>
    public void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised)
    {
        ArgumentNullException.ThrowIfNull(initialised);
        if (!_over) Submit(new ViewCompletion(group, baseView, proposal, initialised));
    }

    /// <inheritdoc/>
    public void Suspect(ProcessId subject, Suspicion evidence)
    {
        if (_over || subject == Self) return;
        _detector.Suspect(subject, evidence);
        Wake();
    }

    /// <inheritdoc/>
    public void Withdraw(ProcessId subject)
    {
        if (_over) return;
        _detector.Withdraw(subject);
        Wake();
    }

    /// <inheritdoc/>
    public void Sync(GroupId group, ulong view, ulong proposal)
    {
        if (_over || !Registered) return;
        _groups.Set(group, view, proposal);
        AskSoon();
    }

    /// <summary>One question serves all groups, of which many may want one in the same turn.</summary>
    private void AskSoon()
    {
        if (_syncWanted) return;
        _syncWanted = true;
        _node.SetTimer(Math.Max(_node.Now, _synchronised + SyncApart), this, Ask);
    }

    private void Submit(Operation operation)
    {
        _requests.Submit(operation);
        Wake();
    }

    private string? Refusal(string name, string tag, GroupOptions options)
    {
        if (_over) return "this process is excluded or has left";
        if (name.Length == 0 || global::System.Text.Encoding.UTF8.GetByteCount(name) > Limits.NameBytes)
            return $"the name of a group has 1 to {Limits.NameBytes} bytes of UTF-8";
        if (global::System.Text.Encoding.UTF8.GetByteCount(tag) > Limits.TagBytes) return $"a tag has at most {Limits.TagBytes} bytes of UTF-8";
        if (!Utf8Text.IsKept(name) || !Utf8Text.IsKept(tag)) return $"its {(Utf8Text.IsKept(name) ? "tag" : "name")} contains an unpaired surrogate: others would read a different text";
        // No process could read them: an unreadable frame is not answered, and counts against its sender.
        if (!Enum.IsDefined(options.Composition) || !Enum.IsDefined(options.SlowMember)) return "its options contain undefined enum values";
        if (options.SlowMemberTimeout is var slow && (slow < TimeSpan.FromSeconds(1) || slow > TimeSpan.FromHours(1))) return $"its SlowMemberTimeout is {slow}; allowed are 1 s to 1 h";
        return _requests.HasRoom ? null : "too many requests of this process wait for an answer";
    }
}
