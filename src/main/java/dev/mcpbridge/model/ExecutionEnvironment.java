package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.nio.charset.StandardCharsets;

/**
 * The environment of a call at risk level 3, as reported in its result: the members of the original
 * API, and the container and image that were used.
 *
 * @param imageId digest of the image; null if it is unknown
 * @param containerId null if it is unknown
 */
public record ExecutionEnvironment(String image, String imageId, String containerId) {
  private static final String MEMBER = "execution_environment";
  private static final byte[] NAME = MEMBER.getBytes(StandardCharsets.US_ASCII);

  /** Adds this to a result. */
  public JsonSlice addTo(JsonSlice result) {
    JsonSlice own = result.mentions(NAME) ? JsonObjects.without(result, MEMBER) : result;
    JsonWriter out = new JsonWriter(own.length() + 320).beginObject().membersOf(own);
    write(out);
    return out.endObject().toSlice();
  }

  /** Adds this to an object as a member. */
  public void write(JsonWriter out) {
    out.name(MEMBER)
        .beginObject()
        .member("risk_level", RiskLevel.HIGH.number())
        .member("risk_description", RiskLevel.HIGH.description())
        .member("docker", true)
        .member("docker_image", image);
    if (imageId != null) {
      out.member("image_digest", imageId);
    }
    if (containerId != null) {
      out.member("container_id", containerId);
    }
    out.endObject();
  }
}
