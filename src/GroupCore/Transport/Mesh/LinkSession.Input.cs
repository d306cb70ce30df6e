using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <content>Receiving frames, and the acknowledgements that are due.</content>
internal sealed partial class LinkSession
{
    private long _position = -1;
    private long _acknowledged;
    private long _ackAt = Never;
    private long _askedAt = long.MinValue;
    private bool _ask;

    /// <summary>Bytes of the other end's stream that were received.</summary>
    public long Received { get; private set; }

    /// <summary>Whether no frame is taken: frames that have arrived wait in the connection's buffer. Over a connection only.</summary>
    public bool IsInputHeld { get; set; }

    /// <summary>Repeated frames that were skipped.</summary>
    public long Duplicates { get; private set; }

    private long AckDue => Received - _acknowledged >= AckBytes || _ask ? long.MinValue : _ackAt;

    /// <summary>
    /// Gives the complete frames of <paramref name="bytes"/> to <paramref name="sink"/>; <paramref name="consumed"/> says how far they reach. Over
    /// a connection the rest is the beginning of a frame; a datagram must be consumed whole.
    /// </summary>
    public LinkInput Receive(ReadOnlySpan<byte> bytes, ILinkSink sink, long now, out int consumed)
    {
        consumed = 0;
        if (_carrier == LinkCarrier.Datagrams) _position = -1;
        bool gap = false;
        while (FrameHeader.TryRead(bytes[consumed..], out var header))
        {
            if (header.Length < FrameHeader.Size - 4 || header.Length > LinkLimits.FrameBytes - 4 || (header.Flags & 0xF0) != FrameHeader.Version) return LinkInput.Malformed;
            int size = header.Length + 4;
            if (bytes.Length - consumed < size) break;
            var body = bytes.Slice(consumed + FrameHeader.Size, header.BodyLength);
            consumed += size;
            if (header.Type <= FrameType.Segment && header.Type != FrameType.None)
            {
                if (header.Type != FrameType.Segment || !SegmentFrame.TryRead(header, body, out var segment)) return LinkInput.Malformed;
                if (!OnAcknowledged(segment.Received, segment.Resume, now)) return LinkInput.Malformed;
                _position = segment.Offset;
                continue;
            }
            if (_position < 0) return LinkInput.Malformed;
            long start = _position;
            _position += size;
            if (start == Received)
            {
                if (Received == _acknowledged) _ackAt = now + AckDelay;
                Received = _position;
                sink.OnFrame(this, header, body);
                if (!IsAttached) return LinkInput.Closed;
                if (IsInputHeld) break;
            }
            else if (start > Received)
            {
                gap = true;
                if (_carrier == LinkCarrier.Connection) break;
            }
            else
            {
                if (_position > Received) return LinkInput.Malformed;
                Duplicates++;
                // The other end sends again, so it has not received the acknowledgement.
                if (_carrier == LinkCarrier.Datagrams) _ackAt = Math.Min(_ackAt, now);
            }
        }
        if (!gap) return LinkInput.Taken;
        AskToResume(now);
        return LinkInput.Gap;
    }

    /// <summary>Makes the next write due at once: a bare segment if there is nothing else to send.</summary>
    public void AcknowledgeNow(long now) => _ackAt = Math.Min(_ackAt, now);

    private void AskToResume(long now)
    {
        if (now < _askedAt + ResumePause) return;
        _askedAt = now;
        _ask = true;
    }

    private void TakeAck(out long received, out bool resume, long now)
    {
        (received, resume) = (Received, _ask);
        _acknowledged = Received;
        _ackAt = Never;
        _ask = false;
        if (resume) _askedAt = now;
    }

    // Hello and HelloAck carry the received offset: it acknowledges all that was received.
    private void BeginInput()
    {
        _position = -1;
        _acknowledged = Received;
        _ackAt = Never;
        _ask = false;
    }
}
