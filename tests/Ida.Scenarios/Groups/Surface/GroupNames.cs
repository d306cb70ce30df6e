namespace Ida.Scenarios;

/// <summary>What a surface schedule of groups can draw.</summary>
internal static class GroupNames
{
    public const string Sizes = "system of ", Calm = "no faults", SeveralGroups = "several groups in a process", SmallBudget = "small link budget", Narrow = "narrow links", Unsettled = "links that are known late to be their members'", Shuffled = "completions in any order";
    public const string Shift = "composition Shift", NotPrimary = "not StrictPrimary", Evict = "evicts slow members", Inline = "inline handlers", NoState = "no checkpoint", Rejoins = "rejoins by policy";
    public const string Send = "send", OrderedSend = "ordered send", SendTo = "send to one", Query = "query", OrderedQuery = "ordered query", QueryTo = "query to one", Flush = "flush", Views = "views read", Empty = "message of 0 bytes";
    public const string Kilobytes = "kilobytes", Fragments = "several fragments", PeerLimit = "largest message to one", Limit = "largest multicast", TooLarge = "too large", Batch = "batch of many calls", LargeBatch = "batch beyond the command queue";
    public const string All = "replies all", Majority = "replies majority", First = "replies first", AtLeast = "replies at least", TooMany = "replies of more than there are";
    public const string AnswerNull = "answer null", AnswerAbort = "answer abort", AnswerThrows = "query handler throws", AnswerBlocks = "query handler blocks", AnswerLarge = "large answer", AnswerStuck = "query handler never ends";
    public const string ShortTimeout = "timeout that expires", InfiniteTimeout = "infinite timeout", CancelledBefore = "cancelled before", CancelQueued = "cancelled while queued", CancelLater = "cancelled later", CancelInView = "cancelled in a view change";
    public const string Throws = "handler throws", LeavesThread = "handler changes its thread's contexts", Blocks = "handler blocks", BlocksLong = "handler blocks for seconds", Stuck = "handler never ends", SlowWorker = "worker comes late", SlowChange = "handlers block a view change for about as long as a group bears", Evicted = "member evicted", Unhandled = "handler that some lack", ErrorThrows = "error handler throws", ViewThrows = "view handler throws";
    public const string NestedSend = "handler sends", NestedTo = "handler sends to one", NestedQuery = "handler queries", NestedFlush = "handler flushes", NestedLeave = "handler leaves", NestedDispose = "handler disposes", AwaitedLeave = "handler awaits its leave", AwaitedDispose = "handler awaits its dispose", NestedJoin = "handler joins another group";
    public const string Hook = "hook with done", HookLate = "hook with done later", HookNever = "hook without done", HookThrows = "hook throws", HookSends = "hook sends", HookAwaits = "hook awaits", HookAwaitsAndThrows = "hook throws behind its first await", HookBeside = "hook sends after done", HookToJoiner = "hook sends to a member without the state", AnswersHook = "handler answers a hook", LeaverAnswersHook = "handler of a leaver answers a hook";
    public const string SaveThrows = "save throws", LoadThrows = "load throws", LargeState = "large state", SlowSave = "slow save", SaveGivenUp = "save that is given up", JoinBacklog = "joiner's backlog used up", Snapshot = "checkpoint by snapshot";
    public const string JoinCancelledBefore = "join cancelled before", JoinCancelled = "join cancelled", JoinCancelledInSave = "join cancelled while its state is saved", JoinAgain = "join again", JoinBeside = "join beside others", JoinTwice = "join twice", OtherOptions = "join with other options", OneView = "join by many at once";
    public const string Leave = "leave", LeaveCancelled = "leave cancelled", Dispose = "dispose", DisposeStuck = "dispose behind a stuck handler", DisposeAlone = "dispose that the others do not decide in time", AfterEnd = "call after the end", StopNode = "node disposed", StopGiver = "node disposed whose state of a group another loads", StopStuck = "node disposed behind a stuck handler";
    public const string Described = "node described", DescribedAsItStops = "node described as it stops", DescribedOver = "node described that has ended";
    public const string Crash = "crash", Restart = "restart", Partition = "partition", Break = "link breaks", OneWay = "link breaks and one end cannot dial", Overflow = "link overflows", SlowLink = "slow link", Pause = "pause", PauseLong = "pause beyond a lease", SlowNode = "slow node", WrongClocks = "clocks that run wrong", Excluded = "member excluded";
    public const string TurnThrows = "turn throws", RejoinLost = "life lost as it rejoins", RejoinWaits = "call on rejoining waits for its end", RejoinThrows = "call on rejoining throws behind its end", RejoinStays = "call on rejoining outlives its life";
    public const string WrongHandler = "handler that is not registered", WrongType = "wrong type", WrongRank = "wrong rank", WrongTimeout = "wrong timeout", WrongReplies = "wrong count of replies", WrongName = "wrong group name", WrongOptions = "wrong options", WrongBuilder = "builder misused", BuilderThrows = "configure throws", TakenTooEarly = "result taken too early and twice";

    /// <summary>What may be drawn.</summary>
    public static IReadOnlyList<string> Declared { get; } =
    [
        Sizes + 1, Sizes + 2, Sizes + 5, Sizes + 20, Calm, SeveralGroups, SmallBudget, Narrow, Unsettled, Shuffled, Shift, NotPrimary, Evict, Inline, NoState, Rejoins,
        Send, OrderedSend, SendTo, Query, OrderedQuery, QueryTo, Flush, Views, Empty, Kilobytes, Fragments, PeerLimit, Limit, TooLarge, Batch, LargeBatch,
        All, Majority, First, AtLeast, TooMany, AnswerNull, AnswerAbort, AnswerThrows, AnswerBlocks, AnswerLarge, AnswerStuck,
        ShortTimeout, InfiniteTimeout, CancelledBefore, CancelQueued, CancelLater, CancelInView,
        Throws, LeavesThread, Blocks, BlocksLong, Stuck, SlowWorker, SlowChange, Evicted, Unhandled, ErrorThrows, ViewThrows, NestedSend, NestedTo, NestedQuery, NestedFlush, NestedLeave, NestedDispose, AwaitedLeave, AwaitedDispose, NestedJoin,
        Hook, HookLate, HookNever, HookThrows, HookSends, HookAwaits, HookAwaitsAndThrows, HookBeside, HookToJoiner, AnswersHook, LeaverAnswersHook, SaveThrows, LoadThrows, LargeState, SlowSave, SaveGivenUp, JoinBacklog, Snapshot,
        JoinCancelledBefore, JoinCancelled, JoinCancelledInSave, JoinAgain, JoinBeside, JoinTwice, OtherOptions, OneView, Leave, LeaveCancelled, Dispose, DisposeStuck, DisposeAlone, AfterEnd, StopNode, StopGiver, StopStuck, Described, DescribedAsItStops, DescribedOver, Unruly.Loggers,
        Crash, Restart, Partition, Break, OneWay, Overflow, SlowLink, Pause, PauseLong, SlowNode, WrongClocks, Excluded,
        TurnThrows, RejoinLost, RejoinWaits, RejoinThrows, RejoinStays, Leftovers.Judged,
        WrongHandler, WrongType, WrongRank, WrongTimeout, WrongReplies, WrongName, WrongOptions, WrongBuilder, BuilderThrows, TakenTooEarly,
    ];
}
