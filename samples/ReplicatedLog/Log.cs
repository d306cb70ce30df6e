using System.Security.Cryptography;
using System.Text;

namespace ReplicatedLog;

/// <summary>
/// The replicated state: the same entries in the same order at every member, since every member appends what the group delivers in
/// one order. It needs no lock: the group calls one handler at a time.
/// </summary>
internal sealed class Log
{
    private readonly List<Entry> _entries = [];

    public int Count => _entries.Count;

    public void Append(Entry entry) => _entries.Add(entry);

    /// <summary>The state as a new member gets it.</summary>
    public Entry[] Save() => [.. _entries];

    /// <summary>Takes the state of another member in place of the own one.</summary>
    public void Load(Entry[] entries)
    {
        _entries.Clear();
        _entries.AddRange(entries);
    }

    /// <summary>A short text that is equal for equal logs.</summary>
    public string Digest()
    {
        string all = string.Join('\n', _entries.Select(e => $"{e.Author}: {e.Text}"));
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(all)))[..12];
    }
}
