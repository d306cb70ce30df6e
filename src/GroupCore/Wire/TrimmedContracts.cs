using System.Diagnostics.CodeAnalysis;

namespace GroupCore.Wire;

/// <summary>What a trimmer keeps of the types that travel.</summary>
internal static class TrimmedContracts
{
    /// <summary>
    /// What <see cref="ContractSerializer"/> and <see cref="CanonicalKey"/> look at. Calls that register a type of messages, keys or values demand it of that type: whatever is sent
    /// or stored has been registered at this member first. They cannot demand it of types inside that type.
    /// </summary>
    public const DynamicallyAccessedMemberTypes Kept = DynamicallyAccessedMemberTypes.PublicConstructors | DynamicallyAccessedMemberTypes.PublicProperties
        | DynamicallyAccessedMemberTypes.PublicFields | DynamicallyAccessedMemberTypes.Interfaces;
}
