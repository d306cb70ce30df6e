using GroupCore.Diagnostics;

namespace Oracle;

/// <content>Describes the condition of membership for a human reader.</content>
internal sealed partial class OracleMember
{
    internal Detection.FailureDetector Detector => _detector;

    /// <summary>Whether this node is a voter, as far as it knows. From any thread.</summary>
    internal bool Votes => _directory.Replicas.IsVoter(_node.Id);

    /// <summary>Requests without an answer. From any thread.</summary>
    internal int Requests => _requests.Count;

    /// <summary>The most by which a tick was late, in nanoseconds. From any thread.</summary>
    internal long LongestDelay => _health.LongestDelay;

    /// <summary>Inside a turn.</summary>
    internal void Describe(Description text)
    {
        long now = _node.Now, lease = LeaseUntil - now;
        text.Open($"Oracle: this process is {State}, {Self} of system {System}{(_departure == Departure.None ? "" : ", leaving")}");
        text.Line($"lease {(lease > 0 ? $"for another {Description.Time(lease)}" : "none")}, last confirmed contact {(Registered ? $"{Description.Time(now - _lease.Contact)} ago" : "never")}, leader {(Leader.Node == 0 ? "not known" : $"{Leader.Address}")}");
        text.Line($"voters: {string.Join(", ", Voters.Select(static voter => voter.Address.ToString()))}");
        OracleAttributes.All.Describe(text, this);
        _detector.Describe(text);
        _replica?.Describe(text);
        text.Close();
    }
}
