namespace Ida.Mutation;

/// <summary>The class that goes into the mutated project: which mutant is on, and which ones were reached.</summary>
internal static class Switch
{
    /// <summary>The number of the mutant that is on; none or 0: the code as it was written.</summary>
    public const string On = "IDA_MUTANT";

    /// <summary>A file to which the numbers of those that were reached are added, one to a line, when the process ends.</summary>
    public const string Reached = "IDA_MUTANTS_REACHED";

    /// <summary>Its full name: no code of the tree has one like it.</summary>
    public const string Name = "global::IdaMutant";

    public static string Source(int mutants) => $$"""
        internal static class IdaMutant
        {
            private static readonly int s_on = int.TryParse(System.Environment.GetEnvironmentVariable("{{On}}"), out int number) ? number : 0;
            private static readonly bool[]? s_reached = Record();

            public static bool Is(int number)
            {
                if (s_reached is { } reached) reached[number] = true;
                return number == s_on;
            }

            private static bool[]? Record()
            {
                if (System.Environment.GetEnvironmentVariable("{{Reached}}") is not { Length: > 0 } file) return null;
                var reached = new bool[{{mutants + 1}}];
                System.AppDomain.CurrentDomain.ProcessExit += (_, _) =>
                {
                    var lines = new System.Collections.Generic.List<string>();
                    for (int i = 0; i < reached.Length; i++)
                        if (reached[i]) lines.Add(i.ToString(System.Globalization.CultureInfo.InvariantCulture));
                    System.IO.File.AppendAllLines(file, lines);
                };
                return reached;
            }
        }
        """;
}
