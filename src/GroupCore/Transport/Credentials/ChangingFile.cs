using GroupCore.Basics;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// What stands in some small files, read at each call, since neither time nor length of a file says that its contents are the same: the files may be links that lead elsewhere now. If
/// they cannot be read, what was read before stays valid: one of them may be half written.
/// </summary>
internal sealed class ChangingFile<T>(string[] paths, Func<string[], T> parse)
    where T : class
{
    private readonly Lock _lock = new();
    private string[] _texts = [];
    private T? _value;
    private string? _trouble;

    /// <summary>Throws a <see cref="CredentialsException"/> only if it was never read.</summary>
    public T Read()
    {
        using (_lock.Hold())
        {
            try
            {
                string[] texts = Array.ConvertAll(paths, File.ReadAllText);
                if (_value is null || !texts.SequenceEqual(_texts)) (_value, _texts) = (parse(texts), texts);
                _trouble = null;
                return _value;
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException or CredentialsException)
            {
                string trouble = error is CredentialsException ? error.Message : $"The file {string.Join(" or ", paths)} cannot be read: {error.Message}";
                if (_value is null) throw error is CredentialsException ? error : new CredentialsException(trouble, error);
                _trouble = trouble;
                return _value;
            }
        }
    }

    /// <summary>Why the last read did not give what the files hold now; null if it did.</summary>
    public string? Trouble
    {
        get
        {
            using (_lock.Hold()) return _trouble;
        }
    }
}
