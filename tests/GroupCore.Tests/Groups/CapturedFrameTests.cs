using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>
/// Every frame that members of a group send each other is caught as it comes in. Its receiver first gets it in a damaged form, in the very state for which the frame was meant.
/// </summary>
public sealed class CapturedFrameTests
{
    private const int EachType = 12;

    private static readonly FrameType[] s_types =
    [
        FrameType.Bind, FrameType.Data, FrameType.Order, FrameType.Ack, FrameType.Peer, FrameType.PeerAck, FrameType.Reply, FrameType.Report,
        FrameType.Cut, FrameType.CutPart, FrameType.Pull, FrameType.Forward, FrameType.FlushAck, FrameType.FlushWait, FrameType.StateOpen,
        FrameType.StateChunk, FrameType.StateAck, FrameType.StateEnd, FrameType.FirstLayer,
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_frame_cut_short_anywhere_is_counted_and_changes_nothing(ulong seed)
    {
        var given = new Dictionary<FrameType, int>();
        long refused = 0, expected = 0;
        using var script = new CapturedScript(seed, (member, handler, peer, header, body) =>
        {
            if (given.GetValueOrDefault(header.Type) >= EachType || !IsMeantForNow(member, header, body)) return;
            given[header.Type] = given.GetValueOrDefault(header.Type) + 1;
            var counters = member.SimNode.Node.Counters;
            for (int length = 0; length < body.Length; length += length < 80 ? 1 : Math.Max(1, body.Length / 64))
            {
                if (IsWhole(header.Type, length)) continue;
                long before = Refused(counters);
                handler.OnFrame(peer, header with { Length = header.Length - body.Length + length }, body.AsSpan(0, length));
                expected++;
                refused += Refused(counters) - before;
            }
        });
        script.Play();
        Assert.Null(script.Finish());
        Assert.Equal(s_types, s_types.Where(given.ContainsKey));
        Assert.Equal(expected, refused);
        Assert.True(expected > 2_000, $"{expected} frames");
    }

    public static TheoryData<string> Types() => [.. s_types.Select(static type => type.ToString())];

    /// <summary>
    /// A frame with a flipped bit may be a good frame with other content, so the test counts the member that got one as lost and excludes it in the end. Until then the member
    /// must not fail. The others must notice nothing, unless the member passes on what it was told, as leader or as holder of messages.
    /// </summary>
    [Theory]
    [MemberData(nameof(Types))]
    public void A_flipped_bit_stops_no_member(string named)
    {
        var type = Enum.Parse<FrameType>(named);
        bool passedOn = type is FrameType.Data or FrameType.Order or FrameType.Forward or FrameType.Report or FrameType.FlushAck;
        var random = new Prng((ulong)type);
        TestMember? victim = null;
        int frames = 0, flips = 0;
        long before = 0;
        using var script = new CapturedScript((ulong)type, (member, handler, peer, header, body) =>
        {
            if (header.Type != type || frames == EachType || (member.Ended && member != victim) || !IsMeantForNow(member, header, body)) return;
            if (victim is null && !passedOn && member.Host.Groups[0].Rank == 0 && type != FrameType.StateAck) return;
            if ((victim ??= member) != member) return;
            if (frames++ == 0) before = Refused(member.SimNode.Node.Counters);
            member.End();
            for (int at = 0; at < body.Length; at += at < 80 ? 1 : Math.Max(1, body.Length / 64), flips++)
            {
                byte[] flipped = [.. body];
                flipped[at] ^= (byte)(1 << random.Next(8));
                handler.OnFrame(peer, header, flipped);
            }
        });
        script.Play();
        Assert.NotNull(victim);
        Assert.True(flips > 0);
        // A turn that throws would have ended the simulation.
        Assert.True(victim.SimNode.Alive);
        if (type is not (FrameType.Peer or FrameType.Reply or FrameType.FirstLayer or FrameType.CutPart)) Assert.True(Refused(victim.SimNode.Node.Counters) > before);
        victim.Crash();
        script.Cluster.Oracle.Fail(victim.Membership);
        if (passedOn) script.Cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        else if (script.Finish() is { } verdict) Assert.Fail(verdict);
    }

    [Fact]
    public void A_frame_of_another_sender_or_view_or_repeated_is_counted_by_its_reason()
    {
        var wrong = new Dictionary<FrameType, long>();
        var repeated = new Dictionary<FrameType, long>();
        long stale = 0, staleGiven = 0;
        using var script = new CapturedScript(9, (member, handler, peer, header, body) =>
        {
            var counters = member.SimNode.Node.Counters;
            var view = member.Group?.Protocol.View;
            if (view is null || view.Members.Count < 3 || !IsMeantForNow(member, header, body) || header.Type == FrameType.Bind) return;
            long before = counters.Refused(RefusalReason.StaleView);
            handler.OnFrame(peer, header with { View = header.View + 7 }, body);
            stale += counters.Refused(RefusalReason.StaleView) - before;
            staleGiven++;
            int other = Enumerable.Range(0, view.Members.Count).First(r => r != member.Group!.Protocol.Rank && member.SimNode.Node.Links.Open(view.Members[r].Address) != peer);
            if (header.Type is FrameType.Data or FrameType.Order or FrameType.Report)
            {
                before = counters.Refused(RefusalReason.NotEntitled);
                handler.OnFrame(member.SimNode.Node.Links.Open(view.Members[other].Address), header, body);
                wrong[header.Type] = wrong.GetValueOrDefault(header.Type) + counters.Refused(RefusalReason.NotEntitled) - before;
            }
            if (header.Type != FrameType.PeerAck) return;
            handler.OnFrame(peer, header, body);
            before = counters.Refused(RefusalReason.Unexpected);
            handler.OnFrame(peer, header, body);
            repeated[header.Type] = repeated.GetValueOrDefault(header.Type) + counters.Refused(RefusalReason.Unexpected) - before;
        });
        script.Play();
        Assert.Null(script.Finish());
        Assert.Equal(staleGiven, stale);
        Assert.All([FrameType.Data, FrameType.Order, FrameType.Report], type => Assert.True(wrong.GetValueOrDefault(type) > 0, $"{type}"));
        Assert.True(repeated.GetValueOrDefault(FrameType.PeerAck) > 0);
    }

    /// <summary>Whether the receiver takes the frame now: it is in the frame's view, knows the proposal, and does not ignore data because it is wedged.</summary>
    private static bool IsMeantForNow(TestMember member, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (member.Ended || member.Host.Groups is not [{ View: { } view, IsOver: false } protocol] || header.View != (uint)view.Id) return false;
        return header.Type switch
        {
            FrameType.Data or FrameType.Order => !protocol.IsWedged,
            FrameType.Report or FrameType.Cut or FrameType.CutPart or FrameType.Pull or FrameType.Forward or FrameType.FlushAck or FrameType.FlushWait =>
                System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(body) == protocol.Flush.Wedge,
            _ => true,
        };
    }

    /// <summary>Whether a frame of this type is still valid when only this many bytes of it are left.</summary>
    private static bool IsWhole(FrameType type, int length) => type switch
    {
        FrameType.Peer => length >= 9,
        FrameType.Reply => length >= 9,
        FrameType.CutPart => length >= 11,
        FrameType.StateChunk => length > 8,
        FrameType.Order => length >= 4 && (length - 4) % 8 == 0,
        FrameType.FlushWait => length >= 8 && length % 2 == 0,
        FrameType.FirstLayer => true,
        _ => false,
    };

    private static long Refused(NodeCounters counters)
    {
        long sum = 0;
        foreach (var reason in Enum.GetValues<RefusalReason>()) sum += counters.Refused(reason);
        return sum;
    }
}
