namespace Ida.Scenarios;

/// <summary>The ingredients of <see cref="SurfaceSchedule"/>: every public call of the DHT with every option, every misuse, and every moment.</summary>
internal static class SurfaceNames
{
    public const string
        PutOne = "put: one pair", PutMany = "put: pairs of one map", PutNull = "put: null removes", RemoveKeys = "remove", RemoveOne = "remove one key", TryAdd = "add if absent", TryReplace = "replace if the version is expected", TryRemove = "remove if the version is expected",
        BatchExpects = "batch that expects versions", NotMet = "versions are not as expected", ExpectAndMerge = "batch that expects versions and merges", ExpectAndThrow = "batch that expects versions, with a resolver that throws", ExpectOfList = "batch that expects the version of a list",
        ExpectSeveral = "batch that expects versions of several keys", ExpectOnly = "batch that only expects versions", ExpectTwice = "batch that expects a version twice",
        Update = "update", UpdateLevel = "update at a level", UpdateTime = "update with a time", UpdateToken = "update with a token", UpdateThrows = "update whose function throws", UpdateThrowsAgain = "update whose function throws at its second call", UpdateRemoves = "update whose function removes", UpdateBlocks = "update whose function blocks",
        UpdateCalls = "update whose function calls the DHT", UpdateCancels = "update whose function cancels it", UpdateMeets = "update between whose read and put another put comes", UpdateNever = "update between whose reads and puts others come until its time is over", UpdateUnknown = "last put of an update repeated by its id", MergeOne = "merge: one pair", MergeMany = "merge: pairs of one map",
        BatchLists = "batch: merges over two maps", BatchValues = "batch: puts and removes over two maps", BatchMixed = "batch: merges, puts and removes over four maps",
        BatchThrows = "batch: a resolver throws for one pair", GetOne = "get: one key", GetMany = "get: keys of one map", Reading = "reading over several maps",
        Snapshot = "snapshot during faults", Status = "status during faults", WhenInitialised = "wait for the state during faults", Close = "close during faults", CloseCancelledBefore = "close whose token is cancelled", CallClosed = "call to a closed part",
        Ordered = "level ordered", TableOrdered = "level ordered as that of the table", TableLevel = "call at the level of the table", StrictAnyway = "call that is strict though level ordered is asked for", OtherLevel = "call of a put at another level than its others", ManyKeys = "more than 64 keys", Kilobytes = "value of 1 to 64 KiB", Limit = "value near its limit", BytePressure = "several values near their limit in one put", Empty = "value of 0 bytes",
        CancelledBefore = "token cancelled before the call", CancelQueued = "cancelled while it is queued", CancelLater = "cancelled some deliveries later", CancelInView = "cancelled in a view change", CancelRetry = "retry cancelled",
        ShortTimeout = "timeout that expires", InfiniteTimeout = "infinite timeout", ExpireInView = "timeout that expires in a view change", BadTimeout = "timeout of 0 or less is refused", BadLevel = "level that names none is refused",
        RetrySame = "retry by id at the same member", RetryOther = "retry by id at another member", RetryTwice = "two retries at once", RetryUnknown = "retry of a put without a given id", TakenId = "put under an id taken before", Follower = "retry with a short time that waits for its put at the same member", OtherPairs = "retry with other pairs", OtherEffect = "retry that differs only in what it does to a key, or expects of it",
        ResolverThrows = "resolver throws", MergeThrows = "resolver throws for one of two pairs", ResolverRemoves = "resolver removes", ResolverTooLarge = "resolver's value too large", ResolverBlocks = "resolver blocks for up to 10 s", ResolverCalls = "resolver calls the DHT",
        AfterCommit = "batch used after its commit", CommitTwice = "batch committed twice", RunTwice = "reading run twice", SameKeyTwice = "the same key twice in one put", NullKey = "null key", NoResolver = "merge without resolver",
        KeyTooLarge = "key too large", ValueTooLarge = "value too large", TooManyKeys = "too many keys", PartTooLarge = "part too large", ExpectTwo = "two versions expected of one key", ExpectFar = "versions expected where keys lie in several shards", NullValue = "null value to add, or to replace another", UpdateNamed = "update under an id", NoFunction = "update without a function", RemoveNothing = "remove if the version is 0", ForeignMap = "map of another member's DHT", NothingAtAll = "put, get and batch of nothing",
        LowBits = "hash with empty high bits", Constant = "hash that is constant", FewInFlight = "few in flight", FewOperations = "few operations", ShortQueues = "short queues per key", FewOutcomes = "few outcomes remembered", FewOfBoth = "few in flight and few outcomes remembered", FewOfLost = "few outcomes remembered of members that are gone", SmallLinks = "links with little room", Flood = "more calls than may wait", Refused = "overload is told",
        Throws = "turn throws", Crash = "crash", Exclusion = "exclusion of", Join = "join beside", View = "view asked for at", Leave = "leave of", LinkLost = "link lost", LeaseLost = "lease lost at",
        NeverGiven = "id that no put was given", Liar = "frames of a member that lies", LiarRepeats = "proposals of a member that lies which differ only in what they do to a key, or expect of it", AsksStalled = "retry that asks a member that stalls",
        LateViews = "views that members hear of one after the other",
        Extras = "a map and a resolver that some members lack", NotAgreed = "a call of what some members lack is refused", Agreed = "a call of what some members lacked is executed", NotDeclared = "a map that nobody declares, or of other types",
        ShardKeyThrows = "shard key throws", ShardKeyThrowsLate = "shard key throws at replicas", ShardKeyBlocks = "shard key blocks for up to 3 s",
        FewBytes = "few bytes in flight", LeaveBlocked = DhtFaults.LeftBlocked,
        SlowBounds = "small bounds beside takeovers on slow links";

    /// <summary>Ingredients that would only show a known defect, with the finding that fixes it.</summary>
    public static readonly IReadOnlyList<(string Name, string Finding)> Awaiting = [];

    public static readonly IReadOnlyList<string> All =
    [
        .. new[]
        {
            PutOne, PutMany, PutNull, RemoveKeys, RemoveOne, TryAdd, TryReplace, TryRemove, BatchExpects, NotMet, ExpectAndMerge, ExpectAndThrow, ExpectOfList, ExpectSeveral, ExpectOnly, ExpectTwice,
            Update, UpdateLevel, UpdateTime, UpdateToken, UpdateThrows, UpdateThrowsAgain, UpdateRemoves, UpdateBlocks, UpdateCalls, UpdateCancels, UpdateMeets, UpdateNever, UpdateUnknown, MergeOne, MergeMany, BatchLists, BatchValues, BatchMixed, BatchThrows, GetOne, GetMany, Reading, Snapshot, Status, WhenInitialised, Close, CloseCancelledBefore, CallClosed,
            Ordered, TableOrdered, TableLevel, StrictAnyway, OtherLevel, ManyKeys, Kilobytes, Limit, BytePressure, Empty, CancelledBefore, CancelQueued, CancelLater, CancelInView, CancelRetry, ShortTimeout, InfiniteTimeout, ExpireInView, BadTimeout, BadLevel,
            RetrySame, RetryOther, RetryTwice, RetryUnknown, TakenId, Follower, OtherPairs, OtherEffect, ResolverThrows, MergeThrows, ResolverRemoves, ResolverTooLarge, ResolverBlocks, ResolverCalls,
            AfterCommit, CommitTwice, RunTwice, SameKeyTwice, NullKey, NoResolver, KeyTooLarge, ValueTooLarge, TooManyKeys, PartTooLarge, ExpectTwo, ExpectFar, NullValue, UpdateNamed, NoFunction, RemoveNothing, ForeignMap, NothingAtAll,
            LowBits, Constant, FewInFlight, FewOperations, ShortQueues, FewOutcomes, FewOfBoth, FewOfLost, SmallLinks, Flood, Refused, Throws, Crash, Exclusion, Join, View, Leave, LinkLost,
            LeaseLost, NeverGiven, Liar, LiarRepeats, AsksStalled, LateViews, Extras, NotAgreed, Agreed, NotDeclared, ShardKeyThrows, ShardKeyThrowsLate, ShardKeyBlocks, FewBytes, LeaveBlocked, SlowBounds,
        }.Where(static name => Awaiting.All(one => one.Name != name)),
    ];
}
