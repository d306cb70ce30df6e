namespace Ida;

/// <summary>
/// A key that lies in the shard of a part of it: keys with equal shard keys lie together, in whatever map. Implement it explicitly, so that it is no public property of the key:
/// <c>record struct OrderKey(string Customer, int Number) : IShardKey&lt;string&gt; { string IShardKey&lt;string&gt;.ShardKey => Customer; }</c>.
/// </summary>
/// <remarks>It is asked at the caller and at every replica, under the invariant culture: it must not throw, and depend on nothing but what is written of the key.</remarks>
/// <typeparam name="T">Type of the shard key; whatever can be a key.</typeparam>
public interface IShardKey<out T> where T : notnull
{
    /// <summary>What says where the key lies.</summary>
    T ShardKey { get; }
}
