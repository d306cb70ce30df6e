namespace Ida.Testing.Calls;

/// <summary>The asynchronous calls of the public surface, each with its name in the guide.</summary>
internal enum CallKind
{
    /// <summary><c>IdaNode.StartAsync</c></summary>
    Start,

    /// <summary><c>IdaNode.DisposeAsync</c></summary>
    Stop,

    /// <summary><c>IdaNode.DescribeAsync</c></summary>
    Describe,

    /// <summary><c>IdaNode.JoinAsync</c></summary>
    Join,

    /// <summary><c>Group.LeaveAsync</c></summary>
    Leave,

    /// <summary><c>Group.DisposeAsync</c></summary>
    Dispose,

    /// <summary><c>Group.SendAsync</c></summary>
    Send,

    /// <summary><c>Group.OrderedSendAsync</c></summary>
    OrderedSend,

    /// <summary><c>Group.SendToAsync</c></summary>
    SendTo,

    /// <summary><c>Group.QueryAsync</c></summary>
    Query,

    /// <summary><c>Group.OrderedQueryAsync</c></summary>
    OrderedQuery,

    /// <summary><c>Group.QueryToAsync</c></summary>
    QueryTo,

    /// <summary><c>Group.FlushAsync</c></summary>
    Flush,

    /// <summary><c>Group.Views</c></summary>
    Views,

    /// <summary><c>Group.EnableDhtAsync</c></summary>
    Enable,

    /// <summary><c>Dht.CloseAsync</c></summary>
    Close,

    /// <summary><c>PutAsync</c>, <c>RemoveAsync</c></summary>
    Put,

    /// <summary><c>TryAddAsync</c>, <c>TryReplaceAsync</c>, <c>TryRemoveAsync</c></summary>
    Change,

    /// <summary><c>MergeAsync</c></summary>
    Merge,

    /// <summary><c>DhtBatch.CommitAsync</c></summary>
    Commit,

    /// <summary>The same, from <see cref="Put"/> on, with the <c>Operation</c> of an earlier call.</summary>
    Retry,

    /// <summary><c>UpdateAsync</c></summary>
    Update,

    /// <summary><c>GetAsync</c>, <c>DhtReading.RunAsync</c></summary>
    Get,

    /// <summary><c>Dht.SnapshotAsync</c></summary>
    Snapshot,

    /// <summary><c>Dht.StatusAsync</c></summary>
    Status,

    /// <summary><c>Dht.WhenInitialisedAsync</c></summary>
    WhenInitialised,
}
