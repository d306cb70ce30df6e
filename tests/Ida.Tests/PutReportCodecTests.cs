using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What shards tell about puts, as bytes.</summary>
public sealed class PutReportCodecTests
{
    private const int Keys = 5;

    private static readonly PutReport?[] s_all =
    [
        null, new(Verdict.NotMet, 0, null, null), new(Verdict.NotMet, Keys - 1, null, null), new(Verdict.Failed, 3, "negative", null), new(Verdict.Failed, 0, "", null),
        new(Verdict.Failed, 1, new string('\u20AC', DhtLimits.ErrorChars), null), new(Verdict.Applied, 0, null, null), new(Verdict.Applied, 0, null, []),
        new(Verdict.Applied, 0, null, [1, 2, 3]), new(Verdict.Applied, 0, null, new byte[DhtLimits.ValueBytes]),
    ];

    public static TheoryData<int> Samples() => [.. Enumerable.Range(0, s_all.Length)];

    [Theory]
    [MemberData(nameof(Samples))]
    public void A_report_is_read_as_it_was_written_and_takes_no_more_than_its_size(int index)
    {
        var report = s_all[index];
        byte[] bytes = Bytes(report);
        Assert.InRange(bytes.Length, 1, PutReportCodec.SizeOf(report));
        var from = new BodyReader(bytes);
        var read = PutReportCodec.Read(ref from, Keys);
        Assert.True(from.Complete);
        AssertSame(report, read);
        from = new(bytes);
        PutReportCodec.Skip(ref from, Keys);
        Assert.True(from.Complete);
    }

    [Theory]
    [MemberData(nameof(Samples))]
    public void A_report_that_is_cut_short_is_none(int index)
    {
        byte[] bytes = Bytes(s_all[index]);
        for (int length = 0; length < Math.Min(bytes.Length, 700); length++)
        {
            var from = new BodyReader(bytes.AsSpan(0, length));
            _ = PutReportCodec.Read(ref from, Keys);
            Assert.True(from.Failed);
            from = new(bytes.AsSpan(0, length));
            PutReportCodec.Skip(ref from, Keys);
            Assert.True(from.Failed);
        }
    }

    [Theory]
    [InlineData((byte)Verdict.NotMet)]
    [InlineData((byte)Verdict.Failed)]
    public void A_key_that_the_part_does_not_have_is_no_culprit(byte verdict)
    {
        byte[] bytes = Bytes(new((Verdict)verdict, Keys, "error", null));
        var from = new BodyReader(bytes);
        _ = PutReportCodec.Read(ref from, Keys);
        Assert.True(from.Failed);
        from = new(bytes);
        PutReportCodec.Skip(ref from, Keys);
        Assert.True(from.Failed);
        from = new(bytes);
        Assert.Equal(Keys, PutReportCodec.Read(ref from, Keys + 1)!.Culprit);
    }

    [Fact]
    public void Values_and_errors_beyond_their_bounds_are_refused()
    {
        var to = new BodyWriter(new byte[DhtLimits.ValueBytes + 20]);
        to.U8(4);
        to.Blob(new byte[DhtLimits.ValueBytes + 1]);
        AssertRefused(to.Written);
        to = new BodyWriter(new byte[2_000]);
        to.U8(2);
        to.Var(0);
        to.Blob(new byte[(4 * DhtLimits.ErrorChars) + 1]);
        AssertRefused(to.Written);
        for (int kind = 5; kind < 256; kind++) AssertRefused([(byte)kind, 0, 0, 0]);
    }

    /// <summary>Whatever comes, reading it and skipping it agree, and what is read can be written and read again.</summary>
    [Fact]
    public void Random_bytes_are_read_or_refused_and_never_throw()
    {
        var random = new Prng(21);
        int read = 0, refused = 0;
        for (int i = 0; i < 200_000; i++)
        {
            var bytes = new byte[random.Next(24)];
            for (int j = 0; j < bytes.Length; j++) bytes[j] = (byte)(random.Next(2) == 0 ? random.Next(6) : random.Next(256));
            int keys = 1 + random.Next(4);
            BodyReader from = new(bytes), over = new(bytes);
            var report = PutReportCodec.Read(ref from, keys);
            PutReportCodec.Skip(ref over, keys);
            Assert.Equal((from.Failed, from.Remaining), (over.Failed, over.Remaining));
            if (from.Failed)
            {
                refused++;
                continue;
            }
            read++;
            Assert.InRange(report?.Culprit ?? 0, 0, keys - 1);
            from = new(Bytes(report));
            AssertSame(report, PutReportCodec.Read(ref from, keys));
            Assert.True(from.Complete);
        }
        Assert.True(read > 20_000 && refused > 20_000, $"{read} and {refused}");
    }

    private static void AssertRefused(ReadOnlySpan<byte> bytes)
    {
        var from = new BodyReader(bytes);
        _ = PutReportCodec.Read(ref from, Keys);
        Assert.True(from.Failed);
        from = new(bytes);
        PutReportCodec.Skip(ref from, Keys);
        Assert.True(from.Failed);
    }

    private static void AssertSame(PutReport? one, PutReport? other)
    {
        Assert.Equal(one is null, other is null);
        Assert.Equal((one?.Verdict, one?.Culprit, one?.Error), (other?.Verdict, other?.Culprit, other?.Error));
        Assert.Equal(one?.Value, other?.Value);
    }

    private static byte[] Bytes(PutReport? report)
    {
        var to = new BodyWriter(new byte[PutReportCodec.SizeOf(report)]);
        PutReportCodec.Write(ref to, report);
        return to.Written.ToArray();
    }
}
