using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ida.Interleavings.Seams;

/// <summary>A <see cref="SpinWait"/>: nothing to do until another thread has done something.</summary>
[SuppressMessage("Performance", "CA1822", Justification = "As the original")]
internal struct SpinSeam
{
    public void SpinOnce(int sleep1Threshold, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) => Explored.Yield("spin", file, line);
}
