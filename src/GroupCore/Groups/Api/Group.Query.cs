using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Queries;

namespace GroupCore.Groups;

/// <summary>Queries: multicast.md#a-query-asks-the-members-of-its-view.</summary>
public sealed partial class Group
{
    private static readonly TimeSpan s_queryTimeout = TimeSpan.FromSeconds(30);

    /// <summary>Asks all members. Each answers straight to the caller; answers are in rank order of the view in which the query was delivered.</summary>
    /// <exception cref="QueryTimeoutException">Not enough answers within <paramref name="timeout"/> (default 30 s).</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="timeout"/> is neither positive nor <see cref="Timeout.InfiniteTimeSpan"/>, which waits for ever.</exception>
    /// <exception cref="TooFewRepliesException">Fewer values than <paramref name="replies"/> asks for can still come.</exception>
    /// <exception cref="QueryAbortedException">With <see cref="Replies.All"/>: a member answered with an error.</exception>
    /// <exception cref="SendQueueFullException">As for <see cref="SendAsync"/>; or 65,536 queries are open.</exception>
    public ValueTask<IReadOnlyList<MemberReply<TReply>>> QueryAsync<TQuery, TReply>(string handler, TQuery query, Replies replies = default,
        TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        Ask<TQuery, TReply>(handler, query, replies, MessageKind.Query, timeout, cancellationToken);

    /// <summary>As <c>QueryAsync</c>, with the query in the total order: all members answer from the same state.</summary>
    public ValueTask<IReadOnlyList<MemberReply<TReply>>> OrderedQueryAsync<TQuery, TReply>(string handler, TQuery query, Replies replies = default,
        TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        Ask<TQuery, TReply>(handler, query, replies, MessageKind.Query | MessageKind.Ordered, timeout, cancellationToken);

    /// <summary>Asks one member of <see cref="CurrentView"/>.</summary>
    /// <exception cref="MemberGoneException">The member left before the query was sent.</exception>
    /// <exception cref="SendQueueFullException">As for <see cref="SendToAsync"/>; or 65,536 queries are open.</exception>
    /// <exception cref="TooFewRepliesException">The member was excluded or left, or had no answer.</exception>
    public async ValueTask<TReply> QueryToAsync<TQuery, TReply>(int rank, string handler, TQuery query, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        NotInHandler(nameof(QueryToAsync));
        var limit = TimeLimit.Checked(timeout ?? s_queryTimeout, nameof(timeout));
        cancellationToken.ThrowIfCancellationRequested();
        var entry = Protocol.Table.Resolve(Name, handler, typeof(TQuery), typeof(TReply));
        var view = ViewOf(rank);
        var to = view.Members[rank].Id;
        var result = new QueryCall<TReply>(Protocol.Node, Protocol.HostOptions.Serializer);
        var collector = new QueryCollector(Protocol.Host.NextQuery(), handler, 0, limit, result);
        collector.Expect(to, view);
        var call = Write(MessageKind.None, entry, query, GroupLimits.PeerBytes, to: Protocol.Calls.Shares.Of(view, rank));
        (call.To, call.Query, call.Detached) = (to, collector.Number, true);
        var activity = GroupTraces.Start("query to", Name, handler);
        Start(collector, call, result.Fail);
        return activity is null ? await AnswerAsync().ConfigureAwait(false) : await Traced.EndAsync(activity, AnswerAsync()).ConfigureAwait(false);

        async ValueTask<TReply> AnswerAsync()
        {
            var answers = await Answers(result, collector, cancellationToken).ConfigureAwait(false);
            return answers.Count > 0 ? answers[0].Value : throw new TooFewRepliesException(handler, 1, 0, "the member failed, left, or had no answer");
        }
    }

    private async ValueTask<IReadOnlyList<MemberReply<TReply>>> Ask<TQuery, TReply>(string handler, TQuery query, Replies replies, MessageKind kind,
        TimeSpan? timeout, CancellationToken cancellationToken)
    {
        NotInHandler(nameof(QueryAsync));
        var limit = TimeLimit.Checked(timeout ?? s_queryTimeout, nameof(timeout));
        cancellationToken.ThrowIfCancellationRequested();
        var entry = Protocol.Table.Resolve(Name, handler, typeof(TQuery), typeof(TReply));
        var result = new QueryCall<TReply>(Protocol.Node, Protocol.HostOptions.Serializer);
        var collector = new QueryCollector(Protocol.Host.NextQuery(), handler, replies.Code, limit, result);
        var call = Write(kind, entry, query, GroupLimits.MessageBytes, collector.Number);
        (call.Query, call.Detached) = (collector.Number, true);
        var activity = GroupTraces.Start((kind & MessageKind.Ordered) == MessageKind.None ? "query" : "ordered query", Name, handler);
        Start(collector, call, result.Fail);
        var answers = Answers(result, collector, cancellationToken);
        return await (activity is null ? answers : Traced.EndAsync(activity, new ValueTask<IReadOnlyList<MemberReply<TReply>>>(answers)).AsTask()).ConfigureAwait(false);
    }

    /// <summary>The answers. A query that the caller cancels is not sent if no member was asked yet, and nothing of it is kept.</summary>
    private Task<IReadOnlyList<MemberReply<TReply>>> Answers<TReply>(QueryCall<TReply> result, QueryCollector collector, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled ? AnswersOrCancel(result, collector, cancellationToken) : result.Task;

    private async Task<IReadOnlyList<MemberReply<TReply>>> AnswersOrCancel<TReply>(QueryCall<TReply> result, QueryCollector collector, CancellationToken cancellationToken)
    {
        try
        {
            return await result.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            Protocol.PostQueryCancelled(collector.Number, cancellationToken);
            throw;
        }
    }

    private void Start(QueryCollector collector, SendOperation call, Action<Exception> abandon) => Protocol.Post(new CallCommand(
        () =>
        {
            if (Protocol.Queries.Count >= GroupLimits.Queries)
            {
                abandon(Protocol.Calls.Budget.TooManyQueries());
                Protocol.Calls.Budget.TakeBack(call.Payload.Length, call.Share);
                call.Recycle();
                return;
            }
            Protocol.Queries.Add(collector);
            if (Protocol.CallError is { } over) collector.Fail(over);
            Protocol.Take(call);
        },
        error =>
        {
            // An abandoned call is never used again: it may still be in some queue.
            Protocol.Calls.Budget.TakeBack(call.Payload.Length, call.Share);
            abandon(error);
        }));
}
