using GroupCore.Wire;
using Ida.Ordering;
using Ida.Shared;

namespace Ida.Messages;

/// <summary>A participant's message to the coordinator in the same process: the fields of the frame, without bytes.</summary>
internal readonly record struct LocalMessage(FrameType Type, AttemptId Key, ulong Time, bool Quiescent, bool HasResult, RejectReason Reason, bool AskedWithTime = false);
