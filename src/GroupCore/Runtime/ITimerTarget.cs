namespace GroupCore.Runtime;

/// <summary>Receiver of timers. The token tells what a timer was for, so that setting a timer allocates nothing.</summary>
internal interface ITimerTarget
{
    /// <summary>Called inside a turn, once per timer set.</summary>
    void OnTimer(long token);
}
