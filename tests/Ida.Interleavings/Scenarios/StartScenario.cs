using GroupCore.Hosting;
using GroupCore.Transport.Mesh;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>A loop whose first or second thread the system refuses.</summary>
internal sealed class StartScenario : Scenario
{
    private const string First = "the first thread is refused", Second = "the second thread is refused";

    public override string Name => "start";

    public override string Rule => "nothing is left of a loop that could not start, and nothing of it is used behind its end";

    protected override IEnumerable<string> Own => [First, Second];

    public override Action Begin(Schedule schedule)
    {
        bool refused = false;
        schedule.Start("main", () =>
        {
            int left = schedule.Draw(2);
            Reached.At(left == 0 ? First : Second);
            try
            {
                NodeLoop.Start(new()
                {
                    Cluster = "c",
                    CommandCapacity = 2,
                    Port = schedule.Draw(2) == 0 ? SocketPortKind.Auto : SocketPortKind.Completion,
                    StartThread = thread =>
                    {
                        if (left-- == 0) throw new IOException("on purpose");
                        thread.UnsafeStart();
                    },
                });
            }
            catch (IOException)
            {
                refused = true;
            }
            Check.That(schedule, TcpMesh.Latest.IsDisposed, "Its sockets are open");
        });
        return () =>
        {
            Check.That(schedule, refused, "Nobody heard of it");
            Check.Equal(schedule, 0, LibCSeam.OpenIn(schedule), "Descriptors that are not closed");
        };
    }
}
