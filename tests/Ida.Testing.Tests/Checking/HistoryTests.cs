using System.Text;
using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>The history format: what is written follows the format page, and reads back.</summary>
public sealed class HistoryTests
{
    private const string Sample =
        """
        {"op":1,"client":"c1","member":"m1","type":"invoke","t":100,"f":"append","keys":["a","b"],"values":[7,7]}
        {"op":1,"type":"ok","t":200,"versions":[1,4]}
        {"op":"x","client":2,"member":"m2","type":"invoke","t":150,"f":"get","keys":["a","p"],"level":"ordered"}
        {"type":"nemesis","f":"kill","target":"m1","t":160}
        {"op":"x","type":"ok","t":260,"values":[[7],null]}
        {"op":"t","client":"c3","type":"invoke","t":170,"f":"txn","writes":{"p":"new"}}
        {"op":"t","type":"ok","t":180,"reads":{"p":null}}
        {"op":"s","client":"c4","type":"invoke","t":170,"f":"sum","keys":["p"]}
        {"op":"d","client":"c5","type":"invoke","t":171,"f":"delete","keys":["q"]}
        {"op":"d","type":"info","t":172}
        {"type":"final","member":"m2","t":900,"state":{"a":[7],"b":[7],"p":"new"}}

        """;

    [Fact]
    public void Files_of_several_writers_are_read_as_one_history()
    {
        string folder = Directory.CreateTempSubdirectory("ida-history").FullName;
        try
        {
            string caller = Path.Combine(folder, "caller.jsonl"), member = Path.Combine(folder, "member.jsonl");
            // Invocation and completion are in different files, the later one first. The last writer was killed in the middle of a line.
            File.WriteAllText(caller, """
                {"op":1,"type":"ok","t":200,"versions":[1]}
                {"op":2,"client":"c2","member":"m1","type":"invoke","t":300,"f":"get","keys":["a"]}

                """);
            File.WriteAllText(member, """
                {"op":1,"client":"c1","member":"m1","type":"invoke","t":100,"f":"append","keys":["a"],"values":[7]}
                {"type":"final","member":"m1","t":900,"state":{"a":[7]}}
                {"op":2,"type":"o
                """);
            var history = History.ReadFiles(caller, member);
            Assert.Equal([OperationOutcome.Ok, OperationOutcome.Info], history.Operations.Select(operation => operation.Outcome));
            Assert.Equal("m1", Assert.Single(history.Finals).Member);
            File.AppendAllText(member, "\n");
            Assert.Contains("member.jsonl, line 3", Assert.Throws<HistoryFormatException>(() => History.ReadFiles(caller, member)).Message, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void Reads_every_kind_of_line()
    {
        var history = History.Read(new StringReader(Sample));
        Assert.Equal(["1", "x", "t", "s", "d"], history.Operations.Select(o => o.Id));
        var append = history.Operations[0];
        Assert.Equal([new("a", 7, 1), new("b", 7, 4)], append.Writes);
        Assert.Equal((100, 200, OperationOutcome.Ok, HistoryLevel.Strict), (append.Invoked, append.Completed, append.Outcome, append.Level));
        var get = history.Operations[1];
        Assert.Equal([new("a", HistoryValue.List([7L]), null), new("p", null, null)], get.Reads);
        Assert.Equal((HistoryLevel.Ordered, "2"), (get.Level, get.Client));
        Assert.Equal([new("p", null, null)], history.Operations[2].Reads);
        Assert.Equal([new("p", "new", null)], history.Operations[2].Writes);
        Assert.Equal((OperationOutcome.Info, long.MaxValue), (history.Operations[3].Outcome, history.Operations[3].Completed));
        Assert.Equal([new("q", null, null)], history.Operations[4].Writes);
        Assert.Equal(OperationOutcome.Info, history.Operations[4].Outcome);
        Assert.Equal(("kill", "m1"), (history.Faults[0].F, history.Faults[0].Target));
        Assert.Equal("new", history.Finals[0].State["p"].Text);
    }

    [Fact]
    public void What_is_written_is_what_was_read()
    {
        var written = new StringWriter();
        History.Read(new StringReader(Sample)).Write(written);
        var again = new StringWriter();
        History.Read(new StringReader(written.ToString())).Write(again);
        Assert.Equal(written.ToString(), again.ToString());
        Assert.Contains("""{"op":1,"client":"c1","member":"m1","type":"invoke","t":100,"f":"append","keys":["a","b"],"values":[7,7]}""", written.ToString(), StringComparison.Ordinal);
        Assert.Contains("""{"op":"x","type":"ok","t":260,"values":[[7],null]}""", written.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_recorder_writes_lines_that_read_back()
    {
        using var stream = new MemoryStream();
        var recorder = new HistoryRecorder(stream, () => 50, "p1-");
        string put = recorder.Invoke("c", "m", HistoryFunctions.Put, ["k"], [5]);
        string get = recorder.Invoke("d", "m", HistoryFunctions.Get, ["k"], level: HistoryLevel.Weak);
        recorder.Ok(put, versions: [3]);
        recorder.Ok(get, [5], [3]);
        string txn = recorder.InvokeTransaction("e", "m", new Dictionary<string, HistoryValue> { ["k"] = 6 });
        recorder.OkTransaction(txn, new Dictionary<string, HistoryValue> { ["k"] = 5 });
        recorder.Fail(recorder.Invoke("c", "m", HistoryFunctions.Put, ["k"], [8]));
        recorder.Info(recorder.Invoke("c", "m", HistoryFunctions.Put, ["k"], [9]));
        recorder.Nemesis("cut", "m-n");
        recorder.Final("m", new Dictionary<string, HistoryValue> { ["k"] = 6 });

        var history = History.Read(new StringReader(Encoding.UTF8.GetString(stream.ToArray())));
        Assert.Equal(["p1-1", "p1-2", "p1-3", "p1-4", "p1-5"], history.Operations.Select(o => o.Id));
        Assert.Equal([50, 51, 54, 56, 58], history.Operations.Select(o => o.Invoked));
        Assert.Equal([OperationOutcome.Ok, OperationOutcome.Ok, OperationOutcome.Ok, OperationOutcome.Fail, OperationOutcome.Info], history.Operations.Select(o => o.Outcome));
        Assert.Equal(new OperationAccess("k", 5, 3), history.Operations[1].Reads[0]);
        Assert.Single(history.Faults);
        Assert.Throws<InvalidOperationException>(recorder.ToHistory);
    }

    [Fact]
    public void Recording_from_many_threads_keeps_every_event_and_rising_times()
    {
        var recorder = new HistoryRecorder();
        Parallel.For(0, 8, client =>
        {
            for (int i = 0; i < 500; i++) recorder.Ok(recorder.Invoke($"c{client}", "m", HistoryFunctions.Get, ["k"]), [HistoryValue.Absent]);
        });
        var history = recorder.ToHistory();
        Assert.Equal(4000, history.Operations.Count);
        Assert.Equal(8000, history.Events.Select(e => e.T).Distinct().Count());
        Assert.All(history.Operations, o => Assert.True(o.Invoked < o.Completed));
    }

    [Fact]
    public void The_torn_last_line_of_a_killed_writer_is_dropped()
    {
        var history = History.Read(new StringReader(Sample + """{"op":9,"client":"c1","ty"""));
        Assert.Equal(5, history.Operations.Count);
    }

    [Theory]
    [InlineData("""{"op":9,"client":"c1","ty""" + "\n", "line 12")]
    [InlineData("""{"op":9,"type":"maybe","t":5}""" + "\n", "line 12")]
    [InlineData("""{"op":9,"type":"ok","t":5}""", "9 completes but is never invoked")]
    [InlineData("""{"op":1,"type":"info","t":500}""", "1 completes twice")]
    [InlineData("""{"op":1,"type":"invoke","t":500,"f":"sum"}""", "1 is invoked twice")]
    [InlineData("""{"type":"invoke","t":500,"f":"sum"}""", "no 'op'")]
    [InlineData("""{"op":9,"type":"invoke","t":500,"f":"put","keys":["a"],"values":[1,2]}""", "equally long")]
    [InlineData("""{"op":9,"type":"invoke","t":500,"f":"put","keys":["a","a"],"values":[1,2]}""", "twice")]
    [InlineData("""{"op":"s","type":"ok","t":1}""", "before it is invoked")]
    [InlineData("""{"type":"final","t":1,"member":"m9"}""", "'state'")]
    public void A_line_that_breaks_the_format_is_named(string line, string named)
    {
        var thrown = Assert.Throws<HistoryFormatException>(() => History.Read(new StringReader(Sample.TrimEnd() + "\n" + line)));
        Assert.Contains(named, thrown.Message, StringComparison.Ordinal);
    }
}
