namespace GroupCore.Runtime;

/// <summary>Runs the steps that end a node: each of them runs, even if others throw.</summary>
internal struct StopSteps
{
    private List<Exception>? _thrown;

    public void Do(Action step)
    {
        try
        {
            step();
        }
        catch (Exception error)
        {
            (_thrown ??= []).Add(error);
        }
    }

    /// <summary>Throws what the steps threw, if anything.</summary>
    public readonly void ThrowIfAny()
    {
        if (_thrown is not null) throw new AggregateException("Errors occurred while the node was being ended.", _thrown);
    }
}
