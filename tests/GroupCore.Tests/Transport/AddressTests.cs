using System.Net;
using GroupCore.Transport;

namespace GroupCore.Tests.Transport;

/// <summary>Addresses as text: one spelling each, and only those that others can dial.</summary>
public sealed class AddressTests
{
    [Theory]
    [InlineData("10.0.0.1:7", true)]
    [InlineData("[fd00::1]:7", true)]
    [InlineData("[::1]:7", true)]
    [InlineData("223.255.255.254:7", true)]
    [InlineData("10.0.0.1:0", false)]
    [InlineData("0.0.0.0:7", false)]
    [InlineData("[::]:7", false)]
    [InlineData("[::ffff:0.0.0.0]:7", false)]
    [InlineData("224.0.0.1:7", false)]
    [InlineData("255.255.255.255:7", false)]
    [InlineData("[ff02::1]:7", false)]
    [InlineData("[fe80::1]:7", false)]
    [InlineData("[fe80::1%1]:7", false)]
    public void What_others_can_dial(string text, bool reachable)
    {
        Assert.True(EndPointText.TryParse(text, out _));
        Assert.Equal(reachable, EndPointText.TryParseReachable(text, out _));
    }

    /// <summary>A socket for both kinds of addresses shows the older ones in the form of the newer.</summary>
    [Theory]
    [InlineData("[::ffff:10.0.0.1]:7", "10.0.0.1:7")]
    [InlineData("[FD00:0:0::1]:7", "[fd00::1]:7")]
    [InlineData("localhost:7", "127.0.0.1:7")]
    public void An_address_has_one_spelling(string text, string spelling)
    {
        Assert.True(EndPointText.TryParse(text, out var endPoint));
        Assert.Equal(spelling, EndPointText.Format(endPoint).Text);
        Assert.Equal("10.0.0.1:7", EndPointText.Format(new(IPAddress.Parse("::ffff:10.0.0.1"), 7)).Text);
    }

    [Fact]
    public void Addresses_are_in_order_of_their_value_and_the_short_ones_first()
    {
        string[] ordered = ["9.0.0.1", "10.0.0.1", "10.0.0.2", "200.0.0.1", "::1", "fd00::1", "fd00::2"];
        Assert.Equal(ordered, ordered.Reverse().Select(IPAddress.Parse).Order(AddressOrder.Instance).Select(static one => one.ToString()));
    }
}
