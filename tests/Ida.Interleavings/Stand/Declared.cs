namespace Ida.Maps;

/// <summary>Stands in for what a member declares: a part of an operation names it, and nothing here asks.</summary>
internal abstract class Declared
{
    public object? LackedBy => null;
}
