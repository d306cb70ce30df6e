using FiveMachines.Machines;

namespace Ida.Network.Tests.Hosts;

/// <summary>Five machines for the tests of one collection; or the reason why there are none.</summary>
public sealed class HostNetwork : IAsyncLifetime
{
    public const int Size = 5;
    private Namespaces? _machines;
    private string _whyNot = "";

    /// <summary>The machines. Skips the test that asks if there are none.</summary>
    internal Namespaces Machines
    {
        get
        {
            Assert.SkipWhen(_machines is null, $"skipped: {_whyNot}");
            return _machines!;
        }
    }

    public async ValueTask InitializeAsync()
    {
        // What fails where everything is there is no reason to skip: it fails the tests.
        if (await HostRequirements.MissingAsync() is { } missing) _whyNot = missing;
        else _machines = await Namespaces.CreateAsync(Size);
    }

    public async ValueTask DisposeAsync()
    {
        if (_machines is not null) await _machines.DisposeAsync();
    }
}
