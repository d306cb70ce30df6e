namespace Ida.Mutation;

/// <summary>One small change of the code.</summary>
/// <param name="Number">The number that switches it on; from 1.</param>
/// <param name="Path">The file, from the root of the tree.</param>
/// <param name="Line">The first line that it changes, from 1.</param>
/// <param name="LastLine">The last line that it changes.</param>
/// <param name="Change">The old and the new code, as text.</param>
internal sealed record Mutant(int Number, string Path, int Line, int LastLine, string Change)
{
    public override string ToString() => $"{Path}:{Line} {Change}";
}
