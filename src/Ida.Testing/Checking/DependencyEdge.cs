namespace Ida.Testing.Checking;

/// <summary>An edge of a <see cref="DependencyGraph"/>. <paramref name="Timed"/>: it rests on real time. <paramref name="Key"/>: −1 for none.</summary>
internal readonly record struct DependencyEdge(int From, int To, int Key, DependencyKind Kind, bool Timed);
