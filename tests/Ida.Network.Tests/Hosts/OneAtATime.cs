// Each test starts processes and measures times.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
