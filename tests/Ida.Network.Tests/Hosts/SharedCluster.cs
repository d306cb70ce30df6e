namespace Ida.Network.Tests.Hosts;

/// <summary>One cluster for many tests, each of which leaves it as it found it: five processes, all of which vote.</summary>
public sealed class SharedCluster : IAsyncLifetime
{
    private static readonly TimeSpan s_start = TimeSpan.FromSeconds(60);
    private readonly HostNetwork _network = new();
    private HostCluster? _cluster;
    private bool _isWhole;

    /// <summary>How long it took from the start of the processes until they were one cluster; of the last start.</summary>
    internal TimeSpan Formed { get; private set; }

    /// <summary>The cluster, with all processes registered. After a test that failed it is another one. Skips the test where there are no machines.</summary>
    internal async Task<HostCluster> ClusterAsync()
    {
        var machines = _network.Machines;
        if (_cluster is not null && !_isWhole) await EndAsync();
        if (_cluster is null)
        {
            _cluster = new(machines, new());
            _cluster.Start();
        }
        _isWhole = false;
        Formed = await _cluster.RegisteredAsync(s_start);
        return _cluster;
    }

    /// <summary>A test is over, and the cluster as before.</summary>
    internal void Release() => _isWhole = true;

    public ValueTask InitializeAsync() => _network.InitializeAsync();

    public async ValueTask DisposeAsync()
    {
        await EndAsync();
        await _network.DisposeAsync();
    }

    private async Task EndAsync()
    {
        if (_cluster is not null) await _cluster.DisposeAsync();
        _cluster = null;
    }
}
