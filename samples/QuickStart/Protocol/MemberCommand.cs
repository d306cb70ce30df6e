using System.Text.Json.Serialization;

namespace QuickStart.Protocol;

/// <summary>What the conductor tells a member, one JSON object a line on its standard input. The end of the input ends the member.</summary>
[JsonDerivedType(typeof(StartCommand), "start")]
[JsonDerivedType(typeof(EnableCommand), "enable")]
[JsonDerivedType(typeof(ReadCommand), "read")]
[JsonDerivedType(typeof(LoadCommand), "load")]
[JsonDerivedType(typeof(KnownCommand), "known")]
[JsonDerivedType(typeof(QuietCommand), "quiet")]
[JsonDerivedType(typeof(VerifyCommand), "verify")]
[JsonDerivedType(typeof(StopCommand), "stop")]
internal abstract record MemberCommand;

/// <summary>Start a node that looks for the cluster at the seeds, and join the group.</summary>
internal sealed record StartCommand(string Name, string Cluster, string[] Seeds) : MemberCommand;

/// <summary>Enable the DHT.</summary>
internal sealed record EnableCommand(int ShardSize, int TargetSize) : MemberCommand;

/// <summary>Read cuts all the time, chosen by the seed, until told to be quiet.</summary>
internal sealed record ReadCommand(int Seed) : MemberCommand;

/// <summary>
/// Store these rows (numbers in the table), the i-th not before <paramref name="StartAt"/> + i · <paramref name="Interval"/> (<c>Stopwatch</c> ticks).
/// <paramref name="LookFirst"/>: another member may have stored some of them before it died, so read each row first, and store only missing ones.
/// </summary>
internal sealed record LoadCommand(int[] Rows, long StartAt, long Interval, bool LookFirst) : MemberCommand;

/// <summary>These rows were acknowledged to another member, so every read that begins from now on must see them.</summary>
internal sealed record KnownCommand(int[] Rows) : MemberCommand;

/// <summary>Stop reading.</summary>
internal sealed record QuietCommand : MemberCommand;

/// <summary>Read everything in one step, check it, and take the digest of this member's replica.</summary>
internal sealed record VerifyCommand : MemberCommand;

/// <summary>Leave and end.</summary>
internal sealed record StopCommand : MemberCommand;
