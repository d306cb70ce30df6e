namespace Ida.Mutation;

/// <summary>The class that is added to the mutated project: which mutant is on, and which ones were reached.</summary>
internal static class Switch
{
    /// <summary>The number of the mutant that is on; missing or 0 for the original code.</summary>
    public const string On = "IDA_MUTANT";

    /// <summary>The file to which the numbers of the reached mutants are appended, one per line, when the process ends.</summary>
    public const string Reached = "IDA_MUTANTS_REACHED";

    /// <summary>The full name of the class; no code of the tree has the same name.</summary>
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
