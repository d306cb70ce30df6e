namespace GroupCore.Groups.Queries;

/// <summary>Where the answers to a query go; called on the loop.</summary>
internal interface IQueryResult
{
    void Succeed(List<(MemberRef From, byte[] Bytes)> values);

    void Fail(Exception error);
}
