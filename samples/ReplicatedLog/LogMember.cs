using System.Buffers;
using System.Text.Json;
using GroupCore.Groups;
using GroupCore.Membership;
using Ida;

namespace ReplicatedLog;

/// <summary>A member of the log's group: its handlers, its views and its checkpoint, which is all that a replicated object needs.</summary>
internal sealed class LogMember : IAsyncDisposable
{
    private readonly Log _log = new();
    private readonly string _name;
    private readonly IdaNode _node;
    private Group? _group;

    private LogMember(string name, IdaNode node) => (_name, _node) = (name, node);

    public static async Task<LogMember> StartAsync(string seed, string name)
    {
        var node = await IdaNode.StartAsync(new() { Cluster = "replicated-log", Seeds = [seed], Tag = name });
        var member = new LogMember(name, node);
        member._group = await node.JoinAsync("log", member.Register);
        return member;
    }

    /// <summary>Appends a line at the same place at every member. Completes when the line is in this member's log.</summary>
    public ValueTask WriteAsync(string text) => _group!.OrderedSendAsync("append", new Entry(_name, text));

    /// <summary>Asks every member, at the same point of the order, for the length of its log and its digest.</summary>
    public async Task CompareAsync()
    {
        var replies = await _group!.OrderedQueryAsync<string, string>("digest", "");
        foreach (var reply in replies) Console.WriteLine($"      {reply.From.Member.Tag} has {reply.Value}");
    }

    public ValueTask DisposeAsync() => _node.DisposeAsync();

    /// <summary>The group calls these handlers one after the other, in the same order at every member; so the log needs no lock, and is the same everywhere.</summary>
    private void Register(GroupBuilder group) => group
        .OnView(Show)
        .Handle<Entry>("append", (_, entry) =>
        {
            _log.Append(entry);
            Console.WriteLine($"{_log.Count,4}  {entry.Author}: {entry.Text}");
        })
        .OnQuery<string, string>("digest", (_, _) => $"{_log.Count} lines, digest {_log.Digest()}")
        // A member that joins later gets the log as it is between the last line of the old view and the first line of the new one.
        .Checkpoint(
            save => save.Write(JsonSerializer.SerializeToUtf8Bytes(_log.Save())),
            saved =>
            {
                _log.Load(JsonSerializer.Deserialize<Entry[]>(saved.Span)!);
                Console.WriteLine($"      received the log of {_log.Count} lines, digest {_log.Digest()}");
            });

    private static void Show(View view) =>
        Console.WriteLine($"      view {view.Id}: {string.Join(", ", view.Members.Select(m => m.Tag))}");
}
