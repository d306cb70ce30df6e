using Ida.Interleavings.Scenarios;
using Ida.Interleavings.Scheduling;
using System.Diagnostics;
var s = new QueueScenario();
var e = new Explorer(s);
var w = Stopwatch.StartNew();
var f = e.Run(1, int.Parse(args[0]));
Console.WriteLine($"{w.Elapsed} {e.Points} {f?.Seed} {f?.Schedule.Failure}");
foreach (var c in s.Controls) { f = new Explorer(s).Run(1, 10000, c); Console.WriteLine($"{c} {f?.Tried} {f?.Schedule.Failure}"); }
w.Restart();
Console.WriteLine(new Explorer(s).RunBounded(2, 20000)); Console.WriteLine(w.Elapsed);
