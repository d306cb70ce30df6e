using Oracle.Frames;

namespace Oracle.Log;

/// <summary>What the log does to the world.</summary>
internal interface ILogPort
{
    void Send(in Replica to, IFrame frame);

    /// <summary>Whether the link to a replica has room for more than control frames.</summary>
    bool HasRoom(in Replica to);

    /// <summary>The role or the known leader changed.</summary>
    void OnRoleChanged();

    /// <summary>Entries were applied, or a read round was confirmed.</summary>
    void OnProgress();

    /// <summary>There is something to send at the end of this turn.</summary>
    void RequestTurn();
}
