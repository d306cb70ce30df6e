using System.Security.Cryptography;
using System.Text;

namespace ReplicatedLog;

/// <summary>
/// The replicated state: the same entries in the same order at every member, since the group delivers them to every member in
/// one order. It needs no lock: the group calls one handler at a time.
/// </summary>
internal sealed class Log
{
    private readonly List<Entry> _entries = [];

    public int Count => _entries.Count;

    public void Append(Entry entry) => _entries.Add(entry);

    /// <summary>The state that a new member gets.</summary>
    public Entry[] Save() => [.. _entries];

    /// <summary>Replaces this log with the state of another member.</summary>
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
