namespace GroupCore.Runtime;

/// <summary>What is done when a node ends, each step whatever the others throw.</summary>
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
        if (_thrown is not null) throw new AggregateException("Ending a node met further faults.", _thrown);
    }
}
