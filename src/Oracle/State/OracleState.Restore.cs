using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.State;

/// <summary>Reads a saved state as it arrives, one process or group at a time.</summary>
internal sealed partial class OracleState
{
    private sealed class Restore(OracleState into, OracleState read) : IRestore
    {
        private const int LostFields = 5;
        private const int NotCounted = -1;
        private Part _part;
        private int _at, _left = NotCounted;

        // Number of bytes that must have arrived before the next try, so that a large group that is still incomplete is not scanned again with each part.
        private int _next;
        private bool _malformed;

        private enum Part
        {
            Head,
            Processes,
            Groups,
            Lost,
            End,
        }

        public bool TryRead(ReadOnlySpan<byte> come, bool all)
        {
            try
            {
                while (!_malformed && _part != Part.End && (all || IsNextThere(come))) ReadNext(come);
            }
            catch (Exception malformed) when (malformed is InvalidDataException or ArgumentException)
            {
                _malformed = true;
            }
            return !_malformed;
        }

        public void Finish()
        {
            if (_part != Part.End || _malformed) throw new InvalidOperationException($"The state is read as far as {_part}.");
            into.Become(read);
        }

        private bool IsNextThere(ReadOnlySpan<byte> come)
        {
            if (come.Length < _next) return false;
            var reader = new MessagePackReader(come[_at..]);
            if (Skip(ref reader)) return true;
            _next = come.Length + (come.Length - _at);
            return false;
        }

        private bool Skip(ref MessagePackReader reader)
        {
            if (_part != Part.Head && _left == NotCounted) return reader.TryReadArrayHeader(out _);
            if (_part == Part.Head && !reader.TryReadArrayHeader(out _)) return false;
            for (int values = _part is Part.Head or Part.Lost ? LostFields : 1; values > 0; values--)
                if (!reader.TrySkip()) return false;
            return true;
        }

        private void ReadNext(ReadOnlySpan<byte> come)
        {
            var reader = new MessagePackReader(come[_at..]);
            if (_part == Part.Head)
            {
                ReadHead(ref reader);
                _left = 0;
            }
            else if (_left == NotCounted)
            {
                _left = _part switch
                {
                    Part.Processes => WireFormat.ReadCount(ref reader, 2 * Limits.Processes),
                    Part.Groups => WireFormat.ReadCount(ref reader, Limits.Groups),
                    _ => WireFormat.ReadCount(ref reader, Limits.Groups, LostFields),
                };
            }
            else
            {
                ReadOne(ref reader);
                _left--;
            }
            _at += reader.Position;
            if (_left == 0) (_part, _left) = (_part + 1, NotCounted);
        }

        private void ReadHead(ref MessagePackReader reader)
        {
            if (reader.ReadArrayHeader() < 8 || reader.ReadWithin(0, int.MaxValue) != Format) throw new InvalidDataException("Not a saved state of this format.");
            read._index = reader.ReadUInt64();
            read.ProcessesVersion = reader.ReadUInt64();
            // No log founds that many groups, and counting on from it does not wrap around.
            read._lastGroup = (uint)reader.ReadWithin(0, int.MaxValue);
            int past = WireFormat.ReadCount(ref reader, Limits.PastLives);
            for (int i = 0; i < past; i++) read.Past(reader.ReadUInt64());
        }

        private void ReadOne(ref MessagePackReader reader)
        {
            if (_part == Part.Processes) read.Add(LoadProcess(ref reader));
            else if (_part == Part.Groups) ReadGroup(ref reader);
            else ReadLost(ref reader);
        }

        private void ReadGroup(ref MessagePackReader reader)
        {
            var group = LoadGroup(ref reader);
            // The first group has the number 1, and the next one gets the next number.
            if (group.Id.Number == 0 || group.Id.Number > read._lastGroup)
                throw new InvalidDataException($"Group {group.Id}, but the last group founded has the number {read._lastGroup}.");
            read.Add(group);
        }

        private void ReadLost(ref MessagePackReader reader)
        {
            (var id, string name) = (WireFormat.ReadGroup(ref reader), WireFormat.ReadText(ref reader, Limits.NameBytes));
            if (read._byName.ContainsKey(name) || read._groups.ContainsKey(id)) throw new InvalidDataException($"Group {name} is both live and lost.");
            if (id.Number == 0 || id.Number > read._lastGroup) throw new InvalidDataException($"Group {id} is lost, but the last group founded has the number {read._lastGroup}.");
            read.Add(new LostGroup(id, name, WireFormat.ReadProcesses(ref reader), reader.ReadWithin(0, Limits.LeaseLength)));
        }
    }
}
