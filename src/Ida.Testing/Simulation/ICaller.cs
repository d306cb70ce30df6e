namespace Ida.Testing;

/// <summary>A process in one of its lives, as whoever has called it knows it: a call belongs to the life in which it began.</summary>
internal interface ICaller
{
    /// <summary>What has become of it.</summary>
    CallerLife Life { get; }

    /// <summary>The time that it counts by, without that for which it was held up and could tell nobody.</summary>
    TimeSpan Clock { get; }
}
