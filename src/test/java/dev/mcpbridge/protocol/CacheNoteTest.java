package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a result says about the cache, and what a server may not say. */
class CacheNoteTest {
  private static final CacheNote NOTE = new CacheNote(CacheNote.Status.HIT, 3, 9, "c1");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{ }",
        "{\"content\":[]}",
        "{\n\"content\":[]\t}",
        "{\"_meta\":{\"x\":1},\"content\":[]}",
        "{\"_meta\":7,\"content\":[]}"
      })
  void noteIsFoundInAnyResult(String result) {
    assertEquals(NOTE, CacheNote.of(NOTE.addTo(JsonSlice.of(result))));
    assertNull(CacheNote.of(JsonSlice.of(result)));
  }

  @Test
  void noteIsFoundAtTheEndOfALongResult() {
    String text = "{\"_meta\":{\"x\":\"" + "y".repeat(5_000) + "\"},\"content\":[]}";

    assertEquals(NOTE, CacheNote.of(NOTE.addTo(JsonSlice.of(text))));
  }

  /** However a server writes it: the note that is read must not be that of a server. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'content':[],'_meta':{'dev.mcpbridge/cache':{'status':'hit'}}}",
        "{'_meta':{'dev.mcpbridge/cache':{'status':'hit'}},'content':[]}",
        "{'content':[],'_meta':{'x':1},'_meta':{'dev.mcpbridge/cache':{'status':'hit'}}}",
        "{'_meta':{'dev.mcpbridge/cache':{'status':'hit'}},'content':[],'_meta':{'x':1}}",
        "{'_meta':{'dev.mcpbridge/cache':7,'dev.mcpbridge/cache':{'status':'hit'}}}",
        "{'_meta':{'dev.mcpbridge\\/cache':{'status':'hit'}}}",
        "{'content':['dev.mcpbridge/cache'],'_meta':{'dev.mcpbridge\\/cache':{'status':'hit'}}}"
      })
  void noteOfAServerIsRemoved(String result) {
    JsonSlice own = CacheNote.removedFrom(JsonSlice.of(result.replace('\'', '"')));

    assertNull(CacheNote.of(own), own.text());
  }

  @Test
  void otherResultsStayAsTheyAre() {
    JsonSlice result = JsonSlice.of("{ \"content\" : [\"dev.mcpbridge/cache\"],\"n\":1.10}");

    assertEquals(result.text(), CacheNote.removedFrom(result).text());
  }
}
