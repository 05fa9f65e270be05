package dev.mcpbridge.it.mcp;

import dev.mcpbridge.it.mcp.matrix.Combination;
import dev.mcpbridge.it.mcp.matrix.CrowdRows;
import dev.mcpbridge.it.mcp.matrix.ExactRows;
import dev.mcpbridge.it.mcp.matrix.QuestionRows;
import dev.mcpbridge.it.mcp.matrix.ResourceRows;
import dev.mcpbridge.it.mcp.matrix.ToolRows;
import dev.mcpbridge.it.mcp.matrix.World;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests every feature for both eras of clients and servers, over every transport and both kinds of
 * endpoints. The rows are in the interfaces of {@link Column}.
 */
@Tag("mcp")
@Tag("slow")
class MatrixIT {

  @AfterAll
  static void stop() throws Exception {
    World.end();
  }

  static List<Combination> combinations() {
    return Combination.all();
  }

  /** One column of the matrix; an upstream is started for the first column that uses it. */
  @Nested
  @ParameterizedClass(name = "{0}")
  @MethodSource("dev.mcpbridge.it.mcp.MatrixIT#combinations")
  class Column implements ToolRows, ResourceRows, QuestionRows, ExactRows, CrowdRows {
    private final Combination at;

    Column(Combination at) {
      this.at = at;
    }

    @Override
    public Combination at() {
      return at;
    }

    @Override
    public World world() throws Exception {
      return World.of(at.upstream());
    }
  }
}
