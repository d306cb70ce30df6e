namespace Ida.Coordination;

/// <summary>Operations in the order of their arrival. An operation is in one list at a time and carries the links itself, so it leaves without a search.</summary>
internal struct OperationList
{
    public ClientOperation? First;
    private ClientOperation? _last;

    public int Count { get; private set; }

    public void Add(ClientOperation op)
    {
        op.Previous = _last;
        op.Next = null;
        if (_last is null) First = op; else _last.Next = op;
        _last = op;
        Count++;
    }

    public void Remove(ClientOperation op)
    {
        if (op.Previous is null) First = op.Next; else op.Previous.Next = op.Next;
        if (op.Next is null) _last = op.Previous; else op.Next.Previous = op.Previous;
        op.Previous = op.Next = null;
        Count--;
    }
}
