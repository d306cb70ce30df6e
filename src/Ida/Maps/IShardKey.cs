namespace Ida;

/// <summary>
/// A key whose shard depends on a part of it only: keys with equal shard keys lie together, in whatever map. Implement it explicitly, so that it is no public property of the key:
/// <c>record struct OrderKey(string Customer, int Number) : IShardKey&lt;string&gt; { string IShardKey&lt;string&gt;.ShardKey => Customer; }</c>.
/// </summary>
/// <remarks>It is read at the caller and at every replica, under the invariant culture. It must not throw, and must depend on nothing but what is serialized of the key.</remarks>
/// <typeparam name="T">Type of the shard key: any type that can be a key.</typeparam>
public interface IShardKey<out T> where T : notnull
{
    /// <summary>The value that determines where the key lies.</summary>
    T ShardKey { get; }
}
