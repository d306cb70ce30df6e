namespace Ida.Network.Tests.Hosts;

/// <summary>The tests with clusters of their own, on the same machines one after the other.</summary>
[CollectionDefinition(Name)]
public sealed class HostNetworkCollection : ICollectionFixture<HostNetwork>
{
    public const string Name = "five machines";
}
