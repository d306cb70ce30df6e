namespace GroupCore.Tests.Groups;

/// <summary>These tests run alone, since tests in parallel take from the same pools.</summary>
[CollectionDefinition(AllocationTests.Alone, DisableParallelization = true)]
public sealed class AllocationCollection;
