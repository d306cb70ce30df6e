using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>A caller's request to attach a layer; completes when the layer has its first view.</summary>
internal interface ILayerAttachment : ICompletion
{
    /// <summary>Creates the layer on the loop; null if that failed, in which case the caller gets the error.</summary>
    IGroupLayer? Create(IGroupPort port);

    void Fail(Exception reason);
}
