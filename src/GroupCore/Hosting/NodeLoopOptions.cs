using System.Text;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;

namespace GroupCore.Hosting;

/// <summary>Settings of a <see cref="NodeLoop"/>.</summary>
internal sealed record NodeLoopOptions
{
    private const int MaxCommands = 1 << 20;
    private static readonly TimeSpan MaxSpin = TimeSpan.FromMilliseconds(10);

    /// <summary>Name that nodes must share to talk to each other, 1 to 255 bytes in UTF-8.</summary>
    public required string Cluster { get; init; }

    /// <summary>Address to listen at; port 0 means any free port.</summary>
    public string Listen { get; init; } = "127.0.0.1:0";

    /// <summary>Address under which others reach this node when it is not the one it listens at (port forwarding); port 0 means the port where it listens; null otherwise.</summary>
    public string? Advertise { get; init; }

    /// <summary>What the node shows to others, and whom it accepts; null without credentials.</summary>
    public NodeCredentials? Credentials { get; init; }

    /// <summary>How the sockets are driven.</summary>
    public SocketPortKind Port { get; init; }

    /// <summary>
    /// How long an idle loop looks for work, yielding its core, before it sleeps; at most 10 ms, zero to sleep at once. The loop adapts it: it
    /// shrinks while looking finds nothing. Default 50 µs: a wake-up costs more than that on virtual machines.
    /// </summary>
    public TimeSpan Spin { get; init; } = TimeSpan.FromMicroseconds(50);

    /// <summary>Seed of <see cref="INode.Random"/>; null for a random one. The node id is random in any case.</summary>
    public ulong? Seed { get; init; }

    /// <summary>Callers' commands that may wait, 2 to 2^20; rounded up to a power of 2.</summary>
    public int CommandCapacity { get; init; } = 16_384;

    /// <summary>Malformed frames that a node may send within a minute before it is muted for the next one.</summary>
    public int MostMalformed { get; init; } = MuteTable.Malformed;

    /// <summary>Most links to guests, nodes that only dialled in; at this number the guest that has been silent longest gives way to a newcomer.</summary>
    public int MostGuests { get; init; } = LinkLimits.Guests;

    /// <summary>Bytes that all links together may hold unacknowledged before producers of bulk wait, 16 MiB to 1 TiB.</summary>
    public long MostQueuedBytes { get; init; } = LinkLimits.NodeBytes;

    /// <summary>Starts a thread of the loop; in tests it may refuse one, as the system does at its limits.</summary>
    public Action<Thread> StartThread { get; init; } = static thread => thread.UnsafeStart();

    /// <summary>Throws an <see cref="ArgumentException"/> that names the option and what is allowed.</summary>
    internal static void Validate(NodeLoopOptions options)
    {
        if (string.IsNullOrEmpty(options.Cluster) || Encoding.UTF8.GetByteCount(options.Cluster) > HelloFrame.MaxText)
            throw new ArgumentException($"Cluster must be a name of 1 to {HelloFrame.MaxText} bytes in UTF-8.", nameof(options));
        if (options.Spin < TimeSpan.Zero || options.Spin > MaxSpin)
            throw new ArgumentException($"Spin is {options.Spin.TotalMicroseconds} µs; allowed are 0 to {MaxSpin.TotalMicroseconds} µs.", nameof(options));
        if (options.CommandCapacity is < 2 or > MaxCommands)
            throw new ArgumentException($"CommandCapacity is {options.CommandCapacity}; allowed are 2 to {MaxCommands}.", nameof(options));
        if (options.MostQueuedBytes is < 16L << 20 or > 1L << 40)
            throw new ArgumentException($"MostQueuedBytes is {options.MostQueuedBytes}; allowed are {16L << 20} to {1L << 40}.", nameof(options));
        if (options.Port == SocketPortKind.Epoll && !OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("The epoll port needs Linux; use Auto or Completion.");
    }
}
