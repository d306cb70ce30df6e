namespace GroupCore.Groups.PointToPoint;

/// <summary>An entry of an <see cref="OpenRing{T}"/>.</summary>
internal interface IOpenEntry
{
    ulong Number { get; set; }

    bool Open { get; }
}
