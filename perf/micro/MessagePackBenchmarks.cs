using System.Buffers;
using BenchmarkDotNet.Attributes;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Ida.Perf.Micro;

/// <summary>MessagePack written by hand, as in the protocols, and by contract, as for users' values.</summary>
[MemoryDiagnoser]
public class MessagePackBenchmarks
{
    private const int Values = 32;
    private readonly byte[] _span = new byte[4096];
    private readonly ArrayBufferWriter<byte> _buffer = new(4096);
    private readonly Row _row = new("Europe/Zurich", 47.37, 8.54, [1, 2, 3, 4]);
    private readonly byte[] _value = new byte[100];
    private byte[] _rowBytes = [], _valueBytes = [];
    private int _written;

    [GlobalSetup]
    public void Setup()
    {
        _written = WriteInts();
        _rowBytes = Serialize(_row).ToArray();
        _valueBytes = Serialize(_value).ToArray();
    }

    [Benchmark(OperationsPerInvoke = Values)]
    public int WriteInts()
    {
        var writer = new MessagePackWriter(_span);
        for (int i = 0; i < Values; i++) writer.WriteInt((long)i << i);
        return writer.Written;
    }

    [Benchmark(OperationsPerInvoke = Values)]
    public long ReadInts()
    {
        var reader = new MessagePackReader(_span.AsSpan(0, _written));
        long sum = 0;
        for (int i = 0; i < Values; i++) sum += reader.ReadInt64();
        return sum;
    }

    [Benchmark]
    public int WriteContract() => Serialize(_row).Length;

    [Benchmark]
    public object ReadContract() => ContractSerializer.Instance.Deserialize<Row>(_rowBytes);

    [Benchmark]
    public int WriteBytes() => Serialize(_value).Length;

    [Benchmark]
    public byte[] ReadBytes() => ContractSerializer.Instance.Deserialize<byte[]>(_valueBytes);

    [Benchmark]
    public int WriteKey()
    {
        _buffer.ResetWrittenCount();
        CanonicalKey.Write(_buffer, 123_456_789L);
        return _buffer.WrittenCount;
    }

    private ReadOnlySpan<byte> Serialize<T>(T value)
    {
        _buffer.ResetWrittenCount();
        ContractSerializer.Instance.Serialize(_buffer, value);
        return _buffer.WrittenSpan;
    }

    internal sealed record Row(string Name, double Latitude, double Longitude, int[] Codes);
}
