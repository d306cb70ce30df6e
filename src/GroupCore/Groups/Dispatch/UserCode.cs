using System.Runtime.CompilerServices;

namespace GroupCore.Groups.Dispatch;

/// <summary>What the user hands over to be called.</summary>
internal static class UserCode
{
    /// <summary>
    /// Refuses what is compiled from an <c>async</c> method, where nothing is returned to wait for: the rest of it runs when it has returned, and nobody could catch what it throws then,
    /// so that the process ended.
    /// </summary>
    public static T NotAsync<T>(T code, string message, string parameter)
        where T : Delegate
    {
        foreach (var each in code.GetInvocationList())
            if (each.Method.IsDefined(typeof(AsyncStateMachineAttribute), inherit: false)) throw new ArgumentException(message, parameter);
        return code;
    }
}
