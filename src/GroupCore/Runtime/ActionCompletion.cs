namespace GroupCore.Runtime;

/// <summary>A rare completion, where an object per call does not matter.</summary>
internal sealed class ActionCompletion(Action work) : ICompletion
{
    public void Run() => work();
}
