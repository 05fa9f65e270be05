package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Commit;
import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.Found;
import dev.mcpbridge.cluster.agreement.Message.FoundOk;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Hailed;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;

/** Something for every kind of message, so that none is forgotten. */
interface Receiver {
  void propose(Propose propose);

  void prepare(Prepare prepare);

  void prepareOk(PrepareOk ok);

  void commit(Commit commit);

  void ping(Ping ping);

  void pong(Pong pong);

  void startViewChange(StartViewChange change);

  void doViewChange(DoViewChange change);

  void startView(StartView start);

  void getState(GetState question);

  void newState(NewState state);

  void hail(Hail hail);

  void hailed(Hailed hailed);

  void found(Found found);

  void foundOk(FoundOk ok);

  void founded(Founded founded);
}
