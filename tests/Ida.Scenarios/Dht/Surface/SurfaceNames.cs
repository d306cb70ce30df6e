namespace Ida.Scenarios;

/// <summary>The ingredients of <see cref="SurfaceSchedule"/>: every public call of the DHT with every option, every misuse, and every moment.</summary>
internal static class SurfaceNames
{
    public const string
        PutOne = "put: one pair", PutMany = "put: pairs of one map", PutNull = "put: null removes", RemoveKeys = "remove", RemoveOne = "remove one key", TryAdd = "add if absent", TryReplace = "replace if the version is expected", TryRemove = "remove if the version is expected",
        BatchExpects = "batch that expects versions", NotMet = "versions are not as expected", Update = "update", MergeOne = "merge: one pair", MergeMany = "merge: pairs of one map",
        BatchLists = "batch: merges over two maps", BatchValues = "batch: puts and removes over two maps", BatchMixed = "batch: merges, puts and removes over four maps",
        BatchThrows = "batch: a resolver throws for one pair", GetOne = "get: one key", GetMany = "get: keys of one map", Reading = "reading over several maps",
        Snapshot = "snapshot during faults", Status = "status during faults", WhenInitialised = "wait for the state during faults", Close = "close during faults", CloseCancelledBefore = "close whose token is cancelled", CallClosed = "call to a closed part",
        Ordered = "level ordered", OtherLevel = "call of a put at another level than its others", ManyKeys = "more than 64 keys", Kilobytes = "value of 1 to 64 KiB", Limit = "value near its limit", BytePressure = "several values near their limit in one put", Empty = "value of 0 bytes",
        CancelledBefore = "token cancelled before the call", CancelQueued = "cancelled while it is queued", CancelLater = "cancelled some deliveries later", CancelInView = "cancelled in a view change", CancelRetry = "retry cancelled",
        ShortTimeout = "timeout that expires", InfiniteTimeout = "infinite timeout", ExpireInView = "timeout that expires in a view change", BadTimeout = "timeout of 0 or less is refused", BadLevel = "level that names none is refused",
        RetrySame = "retry by id at the same member", RetryOther = "retry by id at another member", RetryTwice = "two retries at once", RetryUnknown = "retry of a put without a given id", Follower = "retry with a short time that waits for its put at the same member", OtherPairs = "retry with other pairs",
        ResolverThrows = "resolver throws", ResolverRemoves = "resolver removes", ResolverTooLarge = "resolver's value too large", ResolverBlocks = "resolver blocks for up to 10 s", ResolverCalls = "resolver calls the DHT",
        AfterCommit = "batch used after its commit", CommitTwice = "batch committed twice", RunTwice = "reading run twice", SameKeyTwice = "the same key twice in one put", NullKey = "null key", NoResolver = "merge without resolver",
        KeyTooLarge = "key too large", ValueTooLarge = "value too large", TooManyKeys = "too many keys", PartTooLarge = "part too large", ForeignMap = "map of another member's DHT", NothingAtAll = "put, get and batch of nothing",
        LowBits = "hash with empty high bits", Constant = "hash that is constant", FewInFlight = "few in flight", FewOperations = "few operations", ShortQueues = "short queues per key", FewOutcomes = "few outcomes remembered", FewOfLost = "few outcomes remembered of members that are gone", SmallLinks = "links with little room", Flood = "more calls than may wait", Refused = "overload is told",
        Throws = "turn throws", Crash = "crash", Exclusion = "exclusion of", Join = "join beside", View = "view asked for at", Leave = "leave of", LinkLost = "link lost", LeaseLost = "lease lost at",
        NeverGiven = "id that no put was given", Liar = "frames of a member that lies", AsksStalled = "retry that asks a member that stalls",
        LateViews = "views that members hear of one after the other",
        FewBytes = "few bytes in flight", LeaveBlocked = DhtFaults.LeftBlocked,
        SlowBounds = "small bounds beside takeovers on slow links";

    /// <summary>What would only show a defect that is known, with the finding that mends it.</summary>
    public static readonly IReadOnlyList<(string Name, string Finding)> Awaiting = [];

    public static readonly IReadOnlyList<string> All =
    [
        .. new[]
        {
            PutOne, PutMany, PutNull, RemoveKeys, RemoveOne, TryAdd, TryReplace, TryRemove, BatchExpects, NotMet, Update, MergeOne, MergeMany, BatchLists, BatchValues, BatchMixed, BatchThrows, GetOne, GetMany, Reading, Snapshot, Status, WhenInitialised, Close, CloseCancelledBefore, CallClosed,
            Ordered, OtherLevel, ManyKeys, Kilobytes, Limit, BytePressure, Empty, CancelledBefore, CancelQueued, CancelLater, CancelInView, CancelRetry, ShortTimeout, InfiniteTimeout, ExpireInView, BadTimeout, BadLevel,
            RetrySame, RetryOther, RetryTwice, RetryUnknown, Follower, OtherPairs, ResolverThrows, ResolverRemoves, ResolverTooLarge, ResolverBlocks, ResolverCalls,
            AfterCommit, CommitTwice, RunTwice, SameKeyTwice, NullKey, NoResolver, KeyTooLarge, ValueTooLarge, TooManyKeys, PartTooLarge, ForeignMap, NothingAtAll,
            LowBits, Constant, FewInFlight, FewOperations, ShortQueues, FewOutcomes, FewOfLost, SmallLinks, Flood, Refused, Throws, Crash, Exclusion, Join, View, Leave, LinkLost,
            LeaseLost, NeverGiven, Liar, AsksStalled, LateViews, FewBytes, LeaveBlocked, SlowBounds,
        }.Where(static name => Awaiting.All(one => one.Name != name)),
    ];
}
