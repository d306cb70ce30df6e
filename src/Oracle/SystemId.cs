namespace Oracle;

/// <summary>Random name of a founded system; frames of another system are dropped.</summary>
internal readonly record struct SystemId(ulong High, ulong Low)
{
    public bool IsNone => High == 0 && Low == 0;

    public override string ToString() => $"{High:x16}{Low:x16}";
}
