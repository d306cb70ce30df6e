namespace Ida.Tests;

/// <summary>Beside nothing else: tests in parallel take from the same pools.</summary>
[CollectionDefinition(AllocationTests.Alone, DisableParallelization = true)]
public sealed class AllocationCollection;
