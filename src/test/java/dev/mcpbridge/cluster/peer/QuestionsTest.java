package dev.mcpbridge.cluster.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import org.junit.jupiter.api.Test;

/** The questions that another node has not answered. */
class QuestionsTest {
  private final Questions questions = new Questions();

  private Future<byte[]> asked(long stream, long after) {
    return questions.sent(questions.nextId(), 1_000, new Frame.Position(stream, after));
  }

  private static void assertFailed(ErrorCode code, Future<byte[]> answer) {
    BridgeException failure = (BridgeException) answer.cause();
    assertEquals(code, failure.code());
    assertEquals(Executed.UNKNOWN, failure.executed());
  }

  @Test
  void answerCompletesItsQuestionOnly() {
    Future<byte[]> first = asked(1, 0);
    Future<byte[]> second = asked(1, 1);

    questions.answered(new Message(Message.Kind.ANSWER, 2, "", new byte[7]));
    questions.answered(new Message(Message.Kind.ANSWER, 99, "", new byte[7]));

    assertFalse(first.isComplete());
    assertEquals(7, second.result().length);
  }

  @Test
  void lateQuestionFailsWithAnUnknownOutcome() {
    Future<byte[]> question = asked(1, 0);

    questions.failLate("n2", 999);
    assertFalse(question.isComplete());
    questions.failLate("n2", 1_000);

    assertFailed(ErrorCode.DEADLINE_EXCEEDED, question);
  }

  /** A node that dropped its answers had received what was sent up to a piece. */
  @Test
  void onlyQuestionsThatTheOtherNodeMayHaveReceivedAreLost() {
    Future<byte[]> ofAnEarlierStream = asked(1, 90);
    Future<byte[]> before = asked(2, 4);
    Future<byte[]> after = asked(2, 5);
    Future<byte[]> ofALaterStream = asked(3, 0);

    questions.failUpTo(new Frame.Position(2, 5), "n2", "test");

    assertFailed(ErrorCode.NODE_LOST, ofAnEarlierStream);
    assertFailed(ErrorCode.NODE_LOST, before);
    assertFalse(after.isComplete());
    assertFalse(ofALaterStream.isComplete());
  }

  @Test
  void allQuestionsOfALostNodeFail() {
    Future<byte[]> question = asked(9, 9);

    questions.failAll("n2", "test");

    assertFailed(ErrorCode.NODE_LOST, question);
    assertTrue(question.cause().getMessage().contains("n2"));
  }
}
