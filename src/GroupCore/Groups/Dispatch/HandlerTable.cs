using GroupCore.Membership;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Groups.Dispatch;

/// <summary>What a member registered for a group, complete before it joins.</summary>
internal sealed class HandlerTable
{
    private readonly Dictionary<uint, HandlerEntry> _byId = [];
    private readonly Dictionary<string, HandlerEntry> _byName = new(StringComparer.Ordinal);

    public List<Action<View>> OnView { get; } = [];

    public List<Action<Proposal, TerminationContext>> OnProposed { get; } = [];

    public Action<GroupError>? OnError { get; set; }

    /// <summary>Writes the state at the view event; null if <see cref="Snapshot"/> is given, or neither.</summary>
    public Action<System.Buffers.IBufferWriter<byte>>? Save { get; set; }

    /// <summary>Takes a picture of the state at the view event, which is written while the handlers go on.</summary>
    public Func<Action<System.Buffers.IBufferWriter<byte>>>? Snapshot { get; set; }

    public Action<ReadOnlyMemory<byte>>? Load { get; set; }

    public bool Inline { get; set; }

    public string? Tag { get; set; }

    public void Add(HandlerEntry entry)
    {
        if (!Utf8Text.IsKept(entry.Name))
            throw new ArgumentException($"The handler name '{Utf8Text.AsGot(entry.Name)}' contains an unpaired surrogate: another such name would be the same handler.", nameof(entry));
        if (_byName.Count >= GroupLimits.Handlers) throw new ArgumentException($"A group takes at most {GroupLimits.Handlers} handlers.", nameof(entry));
        if (_byId.TryGetValue(entry.Id, out var other))
        {
            throw new ArgumentException(other.Name == entry.Name
                ? $"The handler '{entry.Name}' is registered twice."
                : $"The handler names '{entry.Name}' and '{other.Name}' have the same number on the wire: choose another name for one of them.", nameof(entry));
        }
        _byId.Add(entry.Id, entry);
        _byName.Add(entry.Name, entry);
    }

    public HandlerEntry? Find(uint id) => _byId.GetValueOrDefault(id);

    /// <summary>The handler for a call, checked against what the caller sends and expects.</summary>
    public HandlerEntry Resolve(string group, string name, Type message, Type? reply)
    {
        if (!_byName.TryGetValue(name, out var entry)) throw new HandlerNotRegisteredException(group, name);
        if (entry.Message != message) throw new WrongHandlerTypeException(name, $"takes {entry.Message.Name}, not {message.Name}");
        if (entry.Reply != reply)
            throw new WrongHandlerTypeException(name, entry.Reply is null ? "takes messages and answers no query" : reply is null ? "answers queries: use a Query call" : $"answers {entry.Reply.Name}, not {reply.Name}");
        return entry;
    }
}
