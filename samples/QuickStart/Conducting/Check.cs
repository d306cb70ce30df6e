namespace QuickStart.Conducting;

/// <summary>One thing that was verified, and how it stands.</summary>
internal sealed record Check(string Name, bool Passed, string Detail);
