package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The digests of definitions that servers send. */
class DigestFuzzTest {
  private static final int DEPTH = 50;
  private static final ServerId SERVER = new ServerId("s");

  @FuzzTest(maxDuration = "1000h")
  void digestDependsOnTheContentOfADefinitionAndNotOnItsOrder(byte[] definition) {
    JsonSlice read;
    try {
      read = Arguments.read(definition, DEPTH).json();
    } catch (BridgeException invalid) {
      return;
    }
    JsonNode tree;
    try {
      tree = Json.exactTree(read);
    } catch (IOException outOfRange) {
      assertEquals(read, DigestVersion.V1.canonical(DefinitionKind.TOOL, read), "as it is");
      return;
    }
    String digest = digest(read);

    JsonSlice canonical = DigestVersion.V1.canonical(DefinitionKind.TOOL, read);
    assertEquals(canonical, DigestVersion.V1.canonical(DefinitionKind.TOOL, canonical));
    assertEquals(digest, digest(canonical));
    assertEquals(digest, digest(Json.slice(reversed(tree))));
    ObjectNode changed = tree.deepCopy();
    changed.put("description", tree.path("description").asText() + "!");
    assertNotEquals(digest, digest(Json.slice(changed)));
    changed = tree.deepCopy();
    changed
        .withObject("/annotations", JsonNode.OverwriteMode.ALL, true)
        .put("readOnlyHint", tree.at("/annotations/readOnlyHint") + "!");
    assertNotEquals(digest, digest(Json.slice(changed)));
  }

  private static String digest(JsonSlice definition) {
    return DigestVersion.V1.digest(SERVER, DefinitionKind.TOOL, definition);
  }

  /** The same with the members of each object in the opposite order. */
  private static JsonNode reversed(JsonNode node) {
    if (node.isObject()) {
      List<String> names = new ArrayList<>();
      node.fieldNames().forEachRemaining(names::add);
      Collections.reverse(names);
      ObjectNode reversed = Json.object();
      names.forEach(name -> reversed.set(name, reversed(node.get(name))));
      return reversed;
    }
    if (node.isArray()) {
      ArrayNode items = Json.object().arrayNode();
      node.forEach(item -> items.add(reversed(item)));
      return items;
    }
    return node;
  }
}
