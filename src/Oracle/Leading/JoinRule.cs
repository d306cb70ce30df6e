using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Asks the user's function who may join which group, before a join goes into the log. The function may block and throw: it is called outside of turns, <see cref="MostAtOnce"/> times at once
/// at most, and a join about which it has said nothing within <see cref="Limit"/> is refused.
/// </summary>
/// <remarks>It belongs to the leader, as all that is around the log: each leader asks its own. Source: oracle.md#a-join-is-asked-for.</remarks>
internal sealed class JoinRule(INode node, Func<NodeIdentity, string, bool> mayJoin, Action<Request, string?> judged)
{
    /// <summary>Time for an answer, the wait for a place included.</summary>
    public const long Limit = 5 * Durations.Second;

    /// <summary>Calls at once. One that never returns keeps its place.</summary>
    public const int MostAtOnce = 16;

    /// <summary>Joins of one process that are asked about or wait for it. Its further ones are forgotten, and it repeats them: so no process keeps the others waiting for long.</summary>
    public const int MostOfProcess = 64;

    private const int ToldPerTick = 10, NameShown = 256;
    private readonly INode _node = node;
    private readonly Func<NodeIdentity, string, bool> _mayJoin = mayJoin;
    private readonly Dictionary<ulong, int> _ofProcess = [];

    // In the order in which they were asked; those that are over leave at the front.
    private readonly Queue<Question> _open = new();
    private readonly Queue<Question> _waiting = new();
    private int _running, _told;

    /// <summary>Asks about a join or create of the process that has shown this identity. <c>judged</c> gets the answer in a later turn, with the reason of a refusal. False if it asks too much.</summary>
    public bool TryAsk(Request request, NodeIdentity identity, string group)
    {
        ulong process = request.Requester.Node;
        int open = _ofProcess.GetValueOrDefault(process);
        if (open >= MostOfProcess) return false;
        _ofProcess[process] = open + 1;
        var question = new Question(this, request, identity, group, _node.Now + Limit);
        _open.Enqueue(question);
        _waiting.Enqueue(question);
        Go();
        return true;
    }

    /// <summary>Called every 100 ms.</summary>
    public void Tick()
    {
        _told = 0;
        while (_open.TryPeek(out var oldest) && (oldest.IsOver || oldest.Due <= _node.Now))
        {
            _open.Dequeue();
            if (!oldest.IsOver) Refuse(oldest, "the rule of the Oracle's leader gave no answer within 5 s", "CanJoin gave no answer within 5 s");
        }
        // Behind calls that never return, nothing else takes them out.
        while (_waiting.TryPeek(out var next) && next.IsOver) _waiting.Dequeue();
        Go();
    }

    /// <summary>Joins that wait for a call; for checks.</summary>
    public int Waiting => _waiting.Count;

    /// <summary>Forgets all that is not judged.</summary>
    public void Clear()
    {
        foreach (var question in _open) question.IsOver = true;
        _open.Clear();
        _waiting.Clear();
        _ofProcess.Clear();
    }

    private void Go()
    {
        while (_running < MostAtOnce && _waiting.TryDequeue(out var next))
        {
            if (next.IsOver) continue;
            _running++;
            _node.Complete(next);
        }
    }

    private void OnSaid(Question question)
    {
        _running--;
        Go();
        if (question.IsOver) return;
        if (question.Error is { } error) Refuse(question, "the rule of the Oracle's leader failed", $"CanJoin threw {error}");
        else if (!question.MayJoin) Refuse(question, $"'{Cut(question.Identity.Name)}' may not join it", "CanJoin said so");
        else End(question, null);
    }

    /// <summary>Refuses a join about which the function is not asked.</summary>
    public void Refuse(Request request, string identity, string group, string reason)
    {
        Tell(request, identity, group, reason);
        judged(request, reason);
    }

    private void Refuse(Question question, string reason, string told)
    {
        Tell(question.Request, question.Identity.Name, question.Group, told);
        End(question, reason);
    }

    private void Tell(Request request, string identity, string group, string told)
    {
        _node.Counters.Refuse(RefusalReason.Denied);
        if (_told++ < ToldPerTick) _node.Log.JoinDenied($"{request.Requester}", identity, group, told);
    }

    // A name may have any length, and a reason may not.
    private static string Cut(string name) => name.Length <= NameShown ? name : $"{name[..NameShown]}...";

    private void End(Question question, string? refusal)
    {
        question.IsOver = true;
        ulong process = question.Request.Requester.Node;
        if (--_ofProcess[process] == 0) _ofProcess.Remove(process);
        judged(question.Request, refusal);
    }

    /// <summary>One join: the call of the user's function, then the command that brings its answer back to the loop.</summary>
    private sealed class Question(JoinRule rule, Request request, NodeIdentity identity, string group, long due) : NodeCommand, ICompletion
    {
        public Request Request => request;

        public NodeIdentity Identity => identity;

        public string Group => group;

        public long Due => due;

        /// <summary>Whether nobody waits for the answer any more; the loop's.</summary>
        public bool IsOver { get; set; }

        public bool MayJoin { get; private set; }

        /// <summary>What the function threw, as text; that too is made by the user's code.</summary>
        public string? Error { get; private set; }

        void ICompletion.Run()
        {
            try
            {
                MayJoin = rule._mayJoin(identity, group);
            }
            catch (Exception error)
            {
                Error = UserError.Text(error);
            }
            rule._node.Post(this);
        }

        public override void Run() => rule.OnSaid(this);

        public override void Abandon(Exception reason)
        {
            // The node has ended, and with it all that waited.
        }
    }
}
