using System.Runtime.CompilerServices;

namespace GroupCore.Groups.Dispatch;

/// <summary>Checks code that the user hands over to be called.</summary>
internal static class UserCode
{
    /// <summary>
    /// Refuses a delegate that is compiled from an <c>async</c> method but returns nothing to await. The rest of such a method would run after its return, and
    /// nobody could catch what it throws then: the process would end.
    /// </summary>
    public static T NotAsync<T>(T code, string message, string parameter)
        where T : Delegate
    {
        foreach (var each in code.GetInvocationList())
            if (each.Method.IsDefined(typeof(AsyncStateMachineAttribute), inherit: false)) throw new ArgumentException(message, parameter);
        return code;
    }
}
