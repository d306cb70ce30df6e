namespace Ida.Tests;

/// <summary>Runs beside no other test: tests in parallel take from the same pools.</summary>
[CollectionDefinition(AllocationTests.Alone, DisableParallelization = true)]
public sealed class AllocationCollection;
