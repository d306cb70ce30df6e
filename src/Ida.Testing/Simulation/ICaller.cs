namespace Ida.Testing;

/// <summary>A process in which calls are made, in one of its lives: a call belongs to the life in which it began.</summary>
internal interface ICaller
{
    /// <summary>What has become of it.</summary>
    CallerLife Life { get; }

    /// <summary>The time on its clock, without the time for which it was held up and could tell nobody anything.</summary>
    TimeSpan Clock { get; }
}
