namespace GroupCore.Transport.Credentials;

/// <summary>One or two cluster keys; a dialler prefers the first.</summary>
internal sealed class ClusterKeys
{
    private readonly byte[][] _keys;

    private ClusterKeys(byte[][] keys) => _keys = keys;

    public int Count => _keys.Length;

    public ReadOnlySpan<byte> this[int index] => _keys[index];

    /// <summary>Keys in a text, on lines of their own or separated by commas.</summary>
    public static ClusterKeys Read(string text, string what) =>
        Parse(text.Split(['\n', '\r', ',', ' ', '\t'], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries), what);

    public static ClusterKeys Parse(string[] texts, string what)
    {
        if (texts.Length is < 1 or > KeyProof.MostKeys) throw new CredentialsException($"{what} holds {texts.Length} keys; allowed are 1 to {KeyProof.MostKeys}.");
        byte[][] keys = new byte[texts.Length][];
        for (int i = 0; i < texts.Length; i++) keys[i] = KeyIn(texts[i] ?? throw new CredentialsException($"{what} is null."), what);
        return new(keys);
    }

    // The message says how long the text is, not what it is.
    private static byte[] KeyIn(string text, string what)
    {
        byte[] key = new byte[KeyProof.KeyBytes];
        bool right = text.Length == 2 * KeyProof.KeyBytes
            ? Convert.FromHexString(text, key, out _, out int written) == System.Buffers.OperationStatus.Done && written == key.Length
            : Convert.TryFromBase64String(text, key, out written) && written == key.Length;
        return right ? key : throw new CredentialsException($"{what} has a key of {text.Length} characters; allowed are {KeyProof.KeyBytes} bytes in base64 (44 characters) or as 64 hexadecimal digits.");
    }
}
