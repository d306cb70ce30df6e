using System.Runtime.CompilerServices;
using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

public sealed class SharedCompletionTests
{
    private static readonly AsyncLocal<object?> s_request = new();

    /// <summary>Such a completion is made in a turn, which any caller may have run. A group, a DHT and a node each keep one for as long as they live.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public void What_the_context_of_its_maker_holds_is_not_kept(bool suppressed)
    {
        var (made, request) = Made(suppressed);
        GC.Collect();
        Assert.False(request.IsAlive);
        Assert.False(made.Task.IsCompleted);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (SharedCompletion Made, WeakReference Request) Made(bool suppressed)
    {
        s_request.Value = new();
        using var flow = suppressed ? ExecutionContext.SuppressFlow() : default(AsyncFlowControl?);
        try
        {
            var made = new SharedCompletion();
            Assert.Equal(suppressed, ExecutionContext.IsFlowSuppressed());
            return (made, new(s_request.Value));
        }
        finally
        {
            s_request.Value = null;
        }
    }
}
