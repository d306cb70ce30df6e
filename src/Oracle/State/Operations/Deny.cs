namespace Oracle.State.Operations;

/// <summary>The result of a join that the leader's rule refuses, in the place of the join: so its repeats have the same result, whoever leads then. Only the leader makes this request.</summary>
internal sealed record Deny(string Reason) : Operation;
