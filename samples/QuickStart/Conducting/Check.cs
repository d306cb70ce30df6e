namespace QuickStart.Conducting;

/// <summary>One property that was checked, and the result.</summary>
internal sealed record Check(string Name, bool Passed, string Detail);
