using GroupCore.Runtime;

namespace Ida.Testing;

/// <summary>The part of a turn that throws.</summary>
internal sealed class ThrowingStep(Exception fault) : ITimerTarget, ITurnParticipant
{
    public void OnTimer(long token) => throw fault;

    public void EndOfTurn() => throw fault;
}
