using Ida.Kinds;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What holds for each effect on a key, and for each kind of operation.</summary>
public sealed class KindsTests
{
    public static TheoryData<int> Effects() => [.. KeyEffect.All.Select(static effect => (int)effect.Number)];

    [Theory]
    [MemberData(nameof(Effects))]
    public void An_effect_is_found_by_its_number(int number) => Assert.Equal(number, KeyEffect.Find(number)!.Number);

    [Fact]
    public void Other_numbers_are_no_effects() => Assert.All([-1, KeyEffect.All.Count, 127, 255], static number => Assert.Null(KeyEffect.Find(number)));

    [Theory]
    [MemberData(nameof(Effects))]
    public void What_is_done_to_a_key_has_room_in_a_frame_and_is_read_as_it_was_written(int number)
    {
        byte[] value = [1, 2, 3];
        foreach (bool expects in (bool[])[false, true])
        {
            var effect = KeyEffect.Find(number)!;
            var deed = new KeyDeed(effect, effect == KeyEffect.Merge ? ulong.MaxValue : 0, expects, expects ? ulong.MaxValue : 0);
            var to = new BodyWriter(new byte[100]);
            deed.Write(ref to, value);
            Assert.InRange(to.Length, 1, KeyDeed.Bytes + 5 + value.Length);
            var from = new BodyReader(to.Written);
            bool whole = KeyDeed.TryRead(ref from, out var read, out var incoming);
            Assert.Equal((expects || !effect.MustExpect, true), (whole, from.Complete));
            Assert.Equal((deed, effect.Brings ? value.Length : 0), (read, incoming.Length));
        }
    }

    /// <summary>Otherwise two different puts under one id would pass as the same.</summary>
    [Fact]
    public void All_that_is_done_to_a_key_is_in_the_hash_that_names_a_put()
    {
        byte[] pair = [1, 2, 3, 4];
        KeyDeed[] deeds =
        [
            new(KeyEffect.Put), new(KeyEffect.Remove), new(KeyEffect.Merge, 1), new(KeyEffect.Merge, 2), new(KeyEffect.Check, 0, true, 1), new(KeyEffect.Put, 0, true, 0), new(KeyEffect.Put, 0, true, 1),
        ];
        Assert.Equal(deeds.Length, deeds.Select(deed => deed.Hash(pair, 2)).Distinct().Count());
        Assert.NotEqual(deeds[0].Hash(pair, 2), deeds[0].Hash(pair, 3));
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(4096, 1)]
    [InlineData(100, 50)]
    public void Results_have_the_room_that_their_kind_asks_for(int length, int keys)
    {
        foreach (var kind in (OperationKind[])[OperationKind.Get, OperationKind.Put])
        {
            int room = kind.SizeOfReport(null);
            for (int i = 0; i < keys; i++) room += kind.SizeOfResult(new byte[length]);
            var to = new BodyWriter(new byte[room]);
            for (int i = 0; i < keys; i++) kind.WriteResult(ref to, new byte[length], ulong.MaxValue);
            kind.WriteReport(ref to, null);
            var from = new BodyReader(to.Written);
            kind.SkipResults(ref from, keys);
            Assert.True(from.Complete);
        }
    }
}
