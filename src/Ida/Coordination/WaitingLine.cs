namespace Ida.Coordination;

/// <summary>
/// Calls that wait for a place, in the order of their arrival. Puts and reads have a list each: so reads can pass puts that wait for the
/// window, without a walk past those puts each time.
/// </summary>
internal sealed class WaitingLine
{
    private OperationList _puts, _reads;
    private long _tickets;

    public int Count => _puts.Count + _reads.Count;

    public int Reads => _reads.Count;

    /// <summary>Number of calls looked at to find the next one.</summary>
    public long Looks { get; private set; }

    /// <summary>The first of the puts; the other puts are linked to it.</summary>
    public ClientOperation? FirstPut => _puts.First;

    /// <summary>The first of the reads; the other reads are linked to it.</summary>
    public ClientOperation? FirstRead => _reads.First;

    /// <summary>The call that came first.</summary>
    public ClientOperation? First
    {
        get
        {
            Looks += 2;
            return _puts.First is { } put && (_reads.First is not { } read || put.Ticket < read.Ticket) ? put : _reads.First;
        }
    }

    public void Add(ClientOperation op)
    {
        op.Ticket = ++_tickets;
        if (op.Kind.Changes) _puts.Add(op);
        else _reads.Add(op);
    }

    public void Remove(ClientOperation op)
    {
        if (op.Kind.Changes) _puts.Remove(op);
        else _reads.Remove(op);
    }
}
