namespace QuickStart.Data;

/// <summary>One row of the zone table, with its columns as in the file.</summary>
/// <param name="Name">Name of the time zone, like Europe/Rome.</param>
/// <param name="Countries">ISO 3166 codes of the countries it covers, comma-separated.</param>
/// <param name="Coordinates">Latitude and longitude of its main city, ISO 6709.</param>
/// <param name="Comment">Comment, often empty.</param>
public sealed record Zone(string Name, string Countries, string Coordinates, string Comment);
