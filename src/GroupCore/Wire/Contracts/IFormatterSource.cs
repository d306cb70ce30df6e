namespace GroupCore.Wire.Contracts;

/// <summary>Where a formatter under construction gets the formatters of its parts.</summary>
internal interface IFormatterSource
{
    /// <summary>The formatter of a part, maybe not complete yet; <paramref name="name"/> is for error messages (".Name", "[]").</summary>
    Formatter<T> Get<T>(string name);
}
