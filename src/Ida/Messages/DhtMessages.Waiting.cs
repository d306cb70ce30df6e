namespace Ida.Messages;

/// <summary>Answers with values wait until the asker's link has room.</summary>
internal sealed partial class DhtMessages
{
    private readonly AnswersDue _due = new(state.Own);

    public bool OwesTooMuch(int rank) => _due.IsFull(rank);

    /// <summary>The link to a member has room again: answers that are due go out.</summary>
    public void OnRoom(int rank)
    {
        while (_due.HasAny(rank) && state.Port.Room(rank) > 0 && _due.TryTake(rank, out var answer))
        {
            var body = send.Room(answer.Bytes + 5);
            answer.Write(ref body);
            send.Send(rank, answer.Type, body.Length);
        }
    }

    /// <summary>Whether an answer with values waits: behind others, or for room.</summary>
    private bool MustWait(int to) => _due.HasAny(to) || state.Port.Room(to) <= 0;
}
