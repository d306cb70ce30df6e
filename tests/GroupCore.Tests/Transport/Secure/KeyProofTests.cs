using GroupCore.Transport.Credentials;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>The proof of the cluster key: right for one connection, one role and one key.</summary>
public sealed class KeyProofTests
{
    private static readonly byte[] Key = Bytes(1, KeyProof.KeyBytes), Mine = Bytes(2, KeyProof.NonceBytes), Yours = Bytes(3, KeyProof.NonceBytes);
    private static readonly byte[] Binding = KeyProof.Binding("c", [1, 2], [3]);

    [Fact]
    public void The_other_end_recognises_the_proof() => Assert.True(KeyProof.IsRight(Key, true, Binding, Mine, Yours, Proof()));

    [Fact]
    public void A_proof_sent_back_is_wrong() => Assert.False(KeyProof.IsRight(Key, false, Binding, Mine, Yours, Proof()));

    [Fact]
    public void A_proof_under_another_key_is_wrong() => Assert.False(KeyProof.IsRight(Bytes(9, KeyProof.KeyBytes), true, Binding, Mine, Yours, Proof()));

    /// <summary>An attacker between two nodes shows each of them a certificate of his own.</summary>
    [Theory]
    [InlineData("c", new byte[] { 1, 2 }, new byte[] { 4 }), InlineData("c", new byte[] { 1 }, new byte[] { 3 }), InlineData("c", new byte[] { 3 }, new byte[] { 1, 2 }), InlineData("d", new byte[] { 1, 2 }, new byte[] { 3 })]
    public void A_proof_for_other_certificates_or_another_cluster_is_wrong(string cluster, byte[] diallers, byte[] acceptors) =>
        Assert.False(KeyProof.IsRight(Key, true, KeyProof.Binding(cluster, diallers, acceptors), Mine, Yours, Proof()));

    [Fact]
    public void A_proof_that_was_heard_once_is_wrong_the_next_time()
    {
        Assert.False(KeyProof.IsRight(Key, true, Binding, Bytes(4, KeyProof.NonceBytes), Yours, Proof()));
        Assert.False(KeyProof.IsRight(Key, true, Binding, Mine, Bytes(4, KeyProof.NonceBytes), Proof()));
        Assert.False(KeyProof.IsRight(Key, true, Binding, Yours, Mine, Proof()));
    }

    [Fact]
    public void Each_bit_of_a_proof_counts()
    {
        for (int bit = 0; bit < 8 * KeyProof.ProofBytes; bit++)
        {
            byte[] proof = Proof();
            proof[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(KeyProof.IsRight(Key, true, Binding, Mine, Yours, proof));
        }
    }

    [Fact]
    public void The_id_of_a_key_is_the_same_each_time_and_differs_from_that_of_another()
    {
        Assert.Equal(Id(Key), Id(Key));
        Assert.NotEqual(Id(Key), Id(Bytes(9, KeyProof.KeyBytes)));

        static byte[] Id(byte[] key)
        {
            byte[] id = new byte[KeyProof.IdBytes];
            KeyProof.WriteId(key, id);
            return id;
        }
    }

    private static byte[] Proof()
    {
        byte[] proof = new byte[KeyProof.ProofBytes];
        KeyProof.Write(Key, true, Binding, Mine, Yours, proof);
        return proof;
    }

    private static byte[] Bytes(byte value, int count)
    {
        byte[] bytes = new byte[count];
        Array.Fill(bytes, value);
        return bytes;
    }
}
