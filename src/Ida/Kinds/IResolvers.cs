namespace Ida.Kinds;

/// <summary>Runs the resolvers of the maps.</summary>
internal interface IResolvers
{
    /// <summary>The value to be stored, null for none; throws what the user's code throws.</summary>
    byte[]? Resolve(ulong resolver, byte[] key, byte[]? stored, byte[] incoming);
}
