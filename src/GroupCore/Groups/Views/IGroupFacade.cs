using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>What the users of a group are told. Outside of the loop: on the worker that runs the handlers, and by completions.</summary>
internal interface IGroupFacade : IHookPort
{
    /// <summary>The handlers have reached a view.</summary>
    void SetView(View view);

    /// <summary>The view handlers have handled a view. Views are published later, in the order of these calls.</summary>
    void Handled(View view);

    /// <summary>Gives readers all views handled so far, not a particular one: completions run in no particular order.</summary>
    void Publish();

    /// <summary>The membership is over.</summary>
    void OnOver(Exception? error);

    /// <summary>No handler takes a message.</summary>
    void Unhandled(uint handler, MemberRef from);

    /// <summary>Something went wrong outside the handlers.</summary>
    void Notify(GroupError error);
}
