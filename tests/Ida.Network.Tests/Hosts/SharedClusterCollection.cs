namespace Ida.Network.Tests.Hosts;

/// <summary>The tests that share one cluster.</summary>
[CollectionDefinition(Name)]
public sealed class SharedClusterCollection : ICollectionFixture<SharedCluster>
{
    public const string Name = "one cluster of five machines";
}
