namespace FiveMachines.Machines;

/// <summary>What one rule of a machine's firewall has dropped.</summary>
/// <param name="Machine">The machine.</param>
/// <param name="Chain">INPUT for what arrives there, OUTPUT for what it sends.</param>
/// <param name="V6">Whether the rule is for IP version 6.</param>
/// <param name="Packets">How many packets.</param>
internal readonly record struct Dropped(int Machine, string Chain, bool V6, long Packets);
