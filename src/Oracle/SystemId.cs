namespace Oracle;

/// <summary>The random name that a system gets when it is founded; frames of another system are refused.</summary>
internal readonly record struct SystemId(ulong High, ulong Low)
{
    public bool IsNone => High == 0 && Low == 0;

    public bool IsBefore(SystemId other) => (High, Low).CompareTo((other.High, other.Low)) < 0;

    public override string ToString() => $"{High:x16}{Low:x16}";
}
