using System.Globalization;
using System.Threading.Channels;
using FiveMachines.Machines;
using GroupCore.Transport.Credentials;

namespace FiveMachines.Conducting;

/// <summary>Five processes, each on a machine of its own: in a network namespace, or where that is not allowed at an address of the loopback.</summary>
internal sealed class Cluster : IDisposable
{
    public const int Size = 5;
    private const int Port = 7700, Seeds = 3;
    private readonly Namespaces? _network;
    private readonly CancellationToken _interrupted;
    private readonly string _key = Security.NewClusterKey();
    private readonly Channel<int> _told = Channel.CreateUnbounded<int>();
    private readonly Member[] _members = new Member[Size];

    /// <summary>The processes are not started yet.</summary>
    /// <param name="network">The machines; null: addresses of the loopback.</param>
    /// <param name="interrupted">Ends what waits for the processes.</param>
    public Cluster(Namespaces? network, CancellationToken interrupted) => (_network, _interrupted) = (network, interrupted);

    /// <summary>By the numbers of their machines, beginning with 1.</summary>
    public IReadOnlyList<Member> Members => _members;

    public string AddressOf(int machine) => string.Create(CultureInfo.InvariantCulture, $"{(_network is null ? $"127.0.0.{machine}" : Namespaces.Address(machine))}:{Port}");

    public void Start(int machine) =>
        _members[machine - 1] = Member.Start(machine, _network?.At(machine) ?? [], [AddressOf(machine), .. Enumerable.Range(1, Seeds).Select(AddressOf)], _key, _told.Writer);

    /// <summary>The machine at an address.</summary>
    public int MachineAt(string address) => Enumerable.Range(1, Size).Single(machine => AddressOf(machine) == address);

    /// <summary>Cuts the machines off from all others. Without a network of their own their processes are stopped instead.</summary>
    public Task CutOffAsync(IReadOnlyCollection<int> machines) => _network is { } network
        ? network.CutAsync(machines, [.. Enumerable.Range(1, Size).Except(machines)])
        : Task.WhenAll(machines.Select(machine => _members[machine - 1].SignalAsync("STOP")));

    public Task HealAsync(IReadOnlyCollection<int> machines) => _network is { } network
        ? network.HealAsync()
        : Task.WhenAll(machines.Select(machine => _members[machine - 1].SignalAsync("CONT")));

    /// <summary>Waits until what the members tell is as it should be. Whenever one of them has told something or has ended, that is looked at again.</summary>
    public async Task UntilAsync(string what, TimeSpan limit, Func<bool> holds)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(_interrupted);
        bound.CancelAfter(limit);
        try
        {
            while (!holds())
            {
                bound.Token.ThrowIfCancellationRequested();
                if (Array.Find(_members, static one => one.EndedOnItsOwn) is { } ended) throw new RunFailedException(await ended.EpitaphAsync());
                await _told.Reader.ReadAsync(bound.Token);
            }
        }
        catch (OperationCanceledException)
        {
            throw new RunFailedException(_interrupted.IsCancellationRequested ? "interrupted" : $"not so after {limit.TotalSeconds:0} s: {what}");
        }
    }

    public void Dispose()
    {
        foreach (var member in _members) member?.Dispose();
    }
}
