using System.Diagnostics.CodeAnalysis;

namespace GroupCore.Wire;

/// <summary>What a trimmer keeps of the types that travel.</summary>
internal static class TrimmedContracts
{
    /// <summary>
    /// The members at which <see cref="ContractSerializer"/> and <see cref="CanonicalKey"/> look. Calls that register a type of messages, keys or values demand them of
    /// that type: whatever is sent or stored has first been registered at this member of the group. They cannot demand them of types inside that type.
    /// </summary>
    public const DynamicallyAccessedMemberTypes Kept = DynamicallyAccessedMemberTypes.PublicConstructors | DynamicallyAccessedMemberTypes.PublicProperties
        | DynamicallyAccessedMemberTypes.PublicFields | DynamicallyAccessedMemberTypes.Interfaces;
}
