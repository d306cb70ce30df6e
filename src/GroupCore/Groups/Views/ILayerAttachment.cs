using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>A caller that attaches a layer; completes it when the layer has its first view.</summary>
internal interface ILayerAttachment : ICompletion
{
    /// <summary>Creates the layer on the loop; null when that failed, and then the caller gets the error.</summary>
    IGroupLayer? Create(IGroupPort port);

    void Fail(Exception reason);
}
