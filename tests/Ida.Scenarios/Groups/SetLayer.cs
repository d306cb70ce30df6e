using System.Buffers;
using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A small layer: a set of numbers that only grows. A number goes to all at once; a newcomer asks the others for theirs; and at a view change all contribute
/// what they have. Each frame names its layer, so that a layer notices a frame of another.
/// </summary>
internal sealed class SetLayer(IGroupPort port, LayerFrames frames) : IGroupLayer
{
    private readonly SortedSet<ulong> _numbers = [];
    private readonly SortedSet<int> _toAsk = [];

    public IGroupPort Port => port;

    public IReadOnlyCollection<ulong> Numbers => _numbers;

    /// <summary>What the members had together, by the view that follows.</summary>
    public SortedDictionary<ulong, (IReadOnlyList<ProcessId> From, string Numbers)> Agreed { get; } = [];

    public int Taken { get; private set; }

    /// <summary>What came though it is no frame of this layer.</summary>
    public List<string> Wrong { get; } = [];

    /// <summary>Whether it keeps a member that is asked to leave.</summary>
    public bool Keeps { get; set; }

    public Exception? Over { get; private set; }

    private FrameType Number => frames.First;

    private FrameType Question => frames.First + 1;

    private FrameType Answer => frames.Last;

    /// <summary>To be called in a turn.</summary>
    public void Add(ulong number)
    {
        if (!_numbers.Add(number) || port.Wedged || port.View is not { } view) return;
        for (int rank = 0; rank < view.Members.Count; rank++)
            if (rank != port.Rank && port.IsHere(rank)) Send(rank, Number, number);
    }

    public void OnWedged(Proposal proposal) => _toAsk.Clear();

    public void Contribute(IBufferWriter<byte> into)
    {
        foreach (ulong number in _numbers)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(into.GetSpan(8), number);
            into.Advance(8);
        }
    }

    public void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions)
    {
        if (contributions.Count == 0)
        {
            for (int rank = 0; rank < view.Members.Count; rank++)
                if (rank != port.Rank) _toAsk.Add(rank);
            Ask();
            return;
        }
        var all = new SortedSet<ulong>();
        foreach (var (_, bytes) in contributions)
            for (int at = 0; at < bytes.Length; at += 8) all.Add(BinaryPrimitives.ReadUInt64LittleEndian(bytes.Span[at..]));
        Agreed[view.Id] = ([.. contributions.Select(static one => one.Member)], string.Join(' ', all));
        _numbers.UnionWith(all);
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        Taken++;
        if (body.Length % 8 != 1 || body[0] != (byte)frames.First || (type != Number && type != Question && type != Answer))
        {
            Wrong.Add($"type {(byte)type} of rank {rank}, {body.Length} bytes");
            return;
        }
        for (int at = 1; at < body.Length; at += 8) _numbers.Add(BinaryPrimitives.ReadUInt64LittleEndian(body[at..]));
        if (type == Question) Send(rank, Answer, [.. _numbers]);
    }

    public void OnRoom(int rank) => Ask();

    public void OnBlocked(bool blocked)
    {
    }

    public bool OnLeaving() => !Keeps;

    public void EndOfTurn()
    {
    }

    public void OnOver(Exception reason) => Over = reason;

    private void Ask()
    {
        foreach (int rank in _toAsk.Where(port.IsHere).ToArray())
        {
            _toAsk.Remove(rank);
            Send(rank, Question);
        }
    }

    private void Send(int rank, FrameType type, params ReadOnlySpan<ulong> numbers)
    {
        int length = 1 + (8 * numbers.Length);
        var body = port.Reserve(length);
        body[0] = (byte)frames.First;
        for (int i = 0; i < numbers.Length; i++) BinaryPrimitives.WriteUInt64LittleEndian(body[(1 + (8 * i))..], numbers[i]);
        port.Send(rank, type, length);
    }
}
