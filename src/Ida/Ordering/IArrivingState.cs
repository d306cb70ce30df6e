namespace Ida.Ordering;

/// <summary>The state of the shard as it comes to a newcomer. It knows how much of it is here, and asks for single values that are needed before their range.</summary>
internal interface IArrivingState
{
    /// <summary>Whether the whole range has arrived.</summary>
    bool Has(int range);

    /// <summary>Changes an entry, and what is known of its range.</summary>
    void Change(Entry entry, byte[]? value, ulong version);

    /// <summary>The value at the view change of this key is needed before its range arrives; for a removed key, only whether there was one.</summary>
    void Want(Entry entry);
}
