package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/**
 * Where a call at risk level 3 ran, as its result says: the original's members, and which container
 * and which image it really was.
 *
 * @param imageId digest of the image; null where it is not known
 * @param containerId null where it is not known
 */
public record ExecutionEnvironment(String image, String imageId, String containerId) {

  /** The result with this in it. */
  public JsonSlice in(JsonSlice result) {
    JsonWriter out = new JsonWriter(result.length() + 320).beginObject().membersOf(result);
    write(out);
    return out.endObject().toSlice();
  }

  /** Adds this to an object as a member. */
  public void write(JsonWriter out) {
    out.name("execution_environment")
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
