package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Version;
import dev.mcpbridge.config.ContainerTarget;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The profile of containers, and its comparison with what an engine reports. */
class ProfileTest {
  private static final String USER = "65534:65534";
  private static final String PODMAN_DEFAULTS =
      "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,NET_BIND_SERVICE,SETFCAP,SETGID,SETPCAP,SETUID,"
          + "SYS_CHROOT";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  static ContainerTarget container(Map<String, Long> tmpfs, ContainerTarget.Mount... mounts) {
    return new ContainerTarget(
        "image",
        List.of(),
        Map.of(),
        List.of(mounts),
        new ContainerTarget.Resources(64 << 20, 1, 100, tmpfs),
        "none",
        USER,
        null,
        1000);
  }

  private static HostConfig profile(EngineKind engine) {
    return Profile.of(container(Map.of("/tmp", 1L << 20)), Set.of("/data/"), engine);
  }

  private static InspectContainerResponse inspected(String dropped, String added)
      throws JsonProcessingException {
    String host =
        "'Privileged':false,'SecurityOpt':['no-new-privileges'],'ReadonlyRootfs':true,"
            + "'NetworkMode':'none','Memory':67108864,'MemorySwap':67108864,'NanoCpus':1000000000,"
            + "'PidsLimit':100,'CapDrop':%s,'CapAdd':%s";
    String json =
        "{'Config':{'User':'" + USER + "'},'HostConfig':{" + host.formatted(dropped, added) + "}}";
    return MAPPER.readValue(json.replace('\'', '"'), InspectContainerResponse.class);
  }

  private static String names(String separated) {
    return "['" + separated.replace(",", "','") + "']";
  }

  @Test
  void dockerReportsThatAllCapabilitiesAreDropped() throws Exception {
    assertEquals(
        List.of(),
        Profile.differences(
            profile(EngineKind.DOCKER), USER, EngineKind.DOCKER, inspected("['ALL']", "null")));
  }

  @Test
  void podmanReportsItsDroppedDefaults() throws Exception {
    HostConfig requested = profile(EngineKind.PODMAN);

    assertEquals(
        List.of(),
        Profile.differences(
            requested, USER, EngineKind.PODMAN, inspected(names(PODMAN_DEFAULTS), "[]")));
    assertEquals(
        List.of(),
        Profile.differences(
            requested,
            USER,
            EngineKind.PODMAN,
            inspected(names(PODMAN_DEFAULTS + ",NET_RAW,MKNOD"), "[]")));
  }

  @Test
  void aMissingOrAddedCapabilityIsADifference() throws Exception {
    HostConfig requested = profile(EngineKind.PODMAN);
    String withoutOne = names(PODMAN_DEFAULTS.replace(",SETUID", ""));

    List<String> missing =
        Profile.differences(requested, USER, EngineKind.PODMAN, inspected(withoutOne, "[]"));
    List<String> added =
        Profile.differences(
            requested, USER, EngineKind.PODMAN, inspected("['ALL']", "['SYS_ADMIN']"));

    assertEquals(1, missing.size(), missing.toString());
    assertEquals(List.of("added capabilities: null requested, but is [SYS_ADMIN]"), added);
  }

  @Test
  void writableFoldersOfPodmanAreReadOnly() {
    String closed = "ro,noexec,nosuid,nodev,notmpcopyup,size=65536";

    Map<String, String> podmanFolders = profile(EngineKind.PODMAN).getTmpFs();

    assertEquals(closed, podmanFolders.get("/run"));
    assertEquals(closed, podmanFolders.get("/var/tmp"));
    assertEquals(Set.of("/run", "/var/tmp", "/tmp", "/data"), podmanFolders.keySet());
    assertEquals(Set.of("/tmp", "/data"), profile(EngineKind.DOCKER).getTmpFs().keySet());
  }

  @Test
  void configuredFoldersReplaceReadOnlyOnes() {
    ContainerTarget.Mount mount = new ContainerTarget.Mount(Path.of("/srv"), "/var/tmp", false);
    ContainerTarget container = container(Map.of("/run", 4096L), mount);

    Map<String, String> folders = Profile.of(container, Set.of(), EngineKind.PODMAN).getTmpFs();

    assertEquals(Set.of("/run", "/tmp"), folders.keySet());
    assertEquals("rw,noexec,nosuid,nodev,mode=1777,size=4096", folders.get("/run"));
    assertTrue(folders.get("/tmp").startsWith("ro,"), folders.toString());
  }

  @Test
  void aTmpfsBelongsToTheUserOfTheContainer() {
    Map<String, String> folders = profile(EngineKind.DOCKER).getTmpFs();

    assertEquals(
        "rw,noexec,nosuid,nodev,mode=1777,uid=65534,gid=65534,size=1048576", folders.get("/tmp"));
    assertTrue(folders.get("/data").contains(",uid=65534,gid=65534,"), folders.toString());
  }

  @Test
  void aPartialListOfDroppedCapabilitiesIsADifferenceForDocker() throws Exception {
    List<String> found =
        Profile.differences(
            profile(EngineKind.DOCKER),
            USER,
            EngineKind.DOCKER,
            inspected(names(PODMAN_DEFAULTS), "[]"));

    assertEquals(1, found.size(), found.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "'{}', DOCKER",
    "'{\"Components\":[]}', DOCKER",
    "'{\"Components\":[{\"Name\":\"Engine\"},{\"Name\":\"containerd\"}]}', DOCKER",
    "'{\"Components\":[{\"Name\":\"Podman Engine\"},{\"Name\":\"Conmon\"}]}', PODMAN"
  })
  void theEngineIsIdentifiedByItsComponents(String version, EngineKind kind) throws Exception {
    assertEquals(kind, EngineKind.of(MAPPER.readValue(version, Version.class)));
  }
}
