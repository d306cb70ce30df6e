using System.Text.Json.Serialization;

namespace QuickStart.Protocol;

/// <summary>What a member tells the conductor, one JSON object a line on its standard output. Times are <c>Stopwatch</c> ticks, one clock for all processes of a machine.</summary>
[JsonDerivedType(typeof(StartedEvent), "started")]
[JsonDerivedType(typeof(ViewEvent), "view")]
[JsonDerivedType(typeof(EnabledEvent), "enabled")]
[JsonDerivedType(typeof(SlotEvent), "slot")]
[JsonDerivedType(typeof(StoredEvent), "stored")]
[JsonDerivedType(typeof(ReadsEvent), "reads")]
[JsonDerivedType(typeof(GapEvent), "gap")]
[JsonDerivedType(typeof(QuietEvent), "quiet")]
[JsonDerivedType(typeof(VerifiedEvent), "verified")]
[JsonDerivedType(typeof(FaultEvent), "fault")]
[JsonDerivedType(typeof(ErrorEvent), "error")]
internal abstract record MemberEvent;

/// <summary>The node is up and in the group.</summary>
internal sealed record StartedEvent(string Address) : MemberEvent;

/// <summary>A view was installed; members by name, in rank order.</summary>
internal sealed record ViewEvent(long At, ulong View, string[] Members) : MemberEvent;

/// <summary>The DHT serves.</summary>
internal sealed record EnabledEvent : MemberEvent;

/// <summary>The member's slot (−1 for none), the shard it belongs to, and whether the member holds the complete state of that shard.</summary>
internal sealed record SlotEvent(long At, ulong View, int Slot, int Shard, bool IsInitialised) : MemberEvent;

/// <summary>A row is stored: the put returned, or (<paramref name="Found"/>) the row was there. <paramref name="Took"/> in ticks.</summary>
internal sealed record StoredEvent(long At, int Row, long Took, bool Found) : MemberEvent;

/// <summary>Reads so far, and keys read.</summary>
internal sealed record ReadsEvent(long Count, long Keys) : MemberEvent;

/// <summary>No read was completed between these two times.</summary>
internal sealed record GapEvent(long From, long To) : MemberEvent;

/// <summary>No read is under way any more.</summary>
internal sealed record QuietEvent(long Count, long Keys) : MemberEvent;

/// <summary>
/// Answer to <see cref="VerifyCommand"/>: the fault in a read of everything (null for none), the number of rows read, the member's slot and shard, its number of entries and
/// their digest.
/// </summary>
internal sealed record VerifiedEvent(string? Fault, int Rows, int Slot, int Shard, long Entries, string Digest) : MemberEvent;

/// <summary>A read failed a check of <see cref="Checks.CutCheck"/>.</summary>
internal sealed record FaultEvent(string Text) : MemberEvent;

/// <summary>The member cannot go on.</summary>
internal sealed record ErrorEvent(string Text) : MemberEvent;
