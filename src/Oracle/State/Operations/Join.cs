using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>The requester joins the group of this name, or founds it.</summary>
internal sealed record Join(string Name, GroupOptions Options, int Acceptors, string Tag) : Operation;
