namespace GroupCore.Runtime;

/// <summary>Work that leaves the loop: a caller's continuation, a batch of deliveries.</summary>
internal interface ICompletion
{
    /// <summary>Runs outside of the loop; must not throw.</summary>
    void Run();
}
