using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>Which layer has which frame types in this process, in the order of the types; no two layers share any.</summary>
internal sealed class LayerTable
{
    private readonly LayerFrames[] _layers;

    /// <exception cref="ArgumentException">Two layers cannot be in one group (the message names both), or there are too many.</exception>
    public LayerTable(IReadOnlyList<LayerFrames> layers)
    {
        if (layers.Count > GroupLimits.Layers) throw new ArgumentException($"Layers names {layers.Count} layers; allowed are {GroupLimits.Layers}, the DHT included.", nameof(layers));
        _layers = [.. layers];
        Array.Sort(_layers, static (one, other) => ((byte)one.First).CompareTo((byte)other.First));
        for (int i = 0; i < _layers.Length; i++)
        {
            for (int j = 0; j < i; j++)
                if (_layers[j].Clashes(_layers[i]) || _layers[j] == _layers[i]) throw new ArgumentException($"The layers {_layers[j]} and {_layers[i]} have the same name, or have frame types in common.", nameof(layers));
        }
    }

    public int Count => _layers.Length;

    public LayerFrames this[int index] => _layers[index];

    /// <summary>The layer with that declaration; −1 when it is not declared.</summary>
    public int IndexOf(LayerFrames layer) => Array.IndexOf(_layers, layer);

    /// <summary>The layer that has a frame type; −1 when none has it.</summary>
    public int IndexOf(FrameType type)
    {
        for (int i = 0; i < _layers.Length; i++)
            if (_layers[i].Has(type)) return i;
        return -1;
    }
}
