// The rule that is left out is set for the whole process.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
