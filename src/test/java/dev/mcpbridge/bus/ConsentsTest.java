package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Consents.Answer;
import dev.mcpbridge.model.ServerId;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ConsentsTest {
  @Test
  void answerReachesAnotherNodeWithTheClientOrWithoutOne() {
    var codec = Consents.redeem(new ServerId("notes")).requestCodec();
    for (String client : Arrays.asList("app", "", null)) {
      Answer answer = new Answer("corp|alice", client, "pending", "code");

      assertEquals(answer, codec.of(codec.bytes(answer)));
    }
  }
}
