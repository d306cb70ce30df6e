namespace Ida.Scenarios;

/// <summary>What a turn throws because a schedule has drawn it: any other fault of a node is a defect.</summary>
internal sealed class DrawnFaultException() : Exception("A turn that throws.");
