using GroupCore.Runtime;
using Ida.Tests.Shared;

namespace Ida.Tests;

/// <summary>Questions to the loop whose caller gave up, or never waited.</summary>
public sealed class GivenUpQuestionTests
{
    [Fact]
    public void A_question_that_fails_when_nobody_waits_leaves_no_unobserved_error() => Unobserved.AssertNone(static (node, reason) =>
    {
        var question = new Question(node);
        question.Fail(reason);
        return question.Task;
    });

    private sealed class Question(INode node) : LoopCommand<int>(node)
    {
        protected override int Ask() => 0;
    }
}
