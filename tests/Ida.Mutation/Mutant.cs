namespace Ida.Mutation;

/// <summary>One small change of the code.</summary>
/// <param name="Number">What switches it on; from 1.</param>
/// <param name="Path">The file, from the root of the tree.</param>
/// <param name="Line">The first line of what it changes, from 1.</param>
/// <param name="LastLine">The last one.</param>
/// <param name="Change">What is put in place of what.</param>
internal sealed record Mutant(int Number, string Path, int Line, int LastLine, string Change)
{
    public override string ToString() => $"{Path}:{Line} {Change}";
}
