using GroupCore.Transport.Mesh;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>Groups with inline handlers that come and go: as long as there are any, the loop's own threads run all turns.</summary>
internal sealed class Keeper(Schedule schedule, List<Call> calls)
{
    private const string LoopThread = "node:1";
    private int _kept;
    private Lane? _keptBy;

    /// <summary>To be called in the turn of each command. Commands behind the one that began the keeping, in the same turn, may still run on that turn's thread.</summary>
    public void OnRun()
    {
        var lane = Lane.Current!;
        if (_kept > 0 && lane != _keptBy && lane.Name != LoopThread) schedule.Fail($"{lane.Name} runs a turn that is kept on the loop");
    }

    /// <summary>Posts a command that keeps the turns, and later another that lends them again.</summary>
    public void KeepForAWhile(TcpMesh mesh, int caller, int number)
    {
        Post(mesh, new(mesh, 10 + caller, number)
        {
            OnRun = _ =>
            {
                mesh.Node.KeepTurns();
                _kept++;
                _keptBy = Lane.Current;
            },
            Then = () => Post(mesh, new(mesh, 20 + caller, number)
            {
                OnRun = _ =>
                {
                    _kept--;
                    mesh.Node.LendTurns();
                },
            }),
        });
    }

    private void Post(TcpMesh mesh, Call call)
    {
        calls.Add(call);
        if (!mesh.Node.TryPost(call)) call.Refuse();
    }
}
