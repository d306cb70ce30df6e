namespace Ida.Process.Tests.Processes;

/// <summary>Tests that start many processes run one at a time and beside no others: they would only slow each other down.</summary>
[CollectionDefinition("processes, one test at a time", DisableParallelization = true)]
public sealed class ProcessCollection;
