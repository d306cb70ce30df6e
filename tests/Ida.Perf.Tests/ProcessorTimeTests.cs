using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Tests;

public sealed class ProcessorTimeTests
{
    [Fact]
    public void The_times_of_a_process_stand_behind_its_name_whatever_that_is() =>
        Assert.Equal(3.21, ProcessorTime.OfProcess("17 (a ) b (c) S 1 2 3 4 5 6 7 8 9 10 200 121 0 0 20 0"));

    [Fact]
    public void Idle_and_waiting_for_input_are_not_busy() =>
        Assert.Equal((1.0 + 2.0 + 3.0 + 0.6 + 0.7 + 0.8, 17.1), ProcessorTime.OfMachine("cpu  100 200 300 400 500 60 70 80 90 100"));

    [Fact]
    public void Others_are_what_is_busy_and_not_ours() =>
        Assert.Equal(0.25, ProcessorTime.OthersShare(new(10, 20, 100), new(15, 30, 120)));
}
