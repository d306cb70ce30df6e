// Which rule is left out is one thing for the process.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
