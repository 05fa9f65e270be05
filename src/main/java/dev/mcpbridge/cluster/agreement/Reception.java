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
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Message.StartViewChange;

/** Brings one message to the part of a replica that it is for. */
final class Reception implements Receiver {
  private final Replica replica;
  private final int from;
  private final long generation;
  private final long now;

  Reception(Replica replica, Signed signed, long now) {
    this.replica = replica;
    this.from = signed.from();
    this.generation = signed.generation();
    this.now = now;
  }

  @Override
  public void propose(Propose propose) {
    if (replica.isPrimary() && propose.entry().proposer() == from) {
      replica.leadership.appendIfAllowed(propose.entry());
    }
  }

  @Override
  public void prepare(Prepare prepare) {
    replica.following.prepare(from, prepare, now);
  }

  @Override
  public void prepareOk(PrepareOk ok) {
    if (replica.isPrimary() && ok.view() == replica.view()) {
      replica.leadership.prepared(from, ok.op());
    }
  }

  @Override
  public void commit(Commit commit) {
    replica.following.commit(from, commit, now);
  }

  @Override
  public void ping(Ping ping) {
    replica.following.ping(from, ping, now);
  }

  @Override
  public void pong(Pong pong) {
    if (replica.isPrimary() && pong.view() == replica.view()) {
      replica.leadership.pong(from, pong, now);
    }
  }

  @Override
  public void startViewChange(StartViewChange change) {
    replica.succession.asked(from, change, now);
  }

  @Override
  public void doViewChange(DoViewChange change) {
    replica.succession.left(from, change, now);
  }

  @Override
  public void startView(StartView start) {
    replica.following.startView(from, start, now);
  }

  @Override
  public void getState(GetState question) {
    replica.tell(from, question);
  }

  @Override
  public void newState(NewState state) {
    replica.following.adopt(from, state, now);
  }

  @Override
  public void hail(Hail hail) {
    replica.send(from, replica.outside.introduction(hail, now));
  }

  @Override
  public void hailed(Hailed hailed) {
    replica.outside.hailed(from, generation, hailed, now);
  }

  @Override
  public void found(Found found) {
    replica.outside.asked(from, found, now);
  }

  @Override
  public void foundOk(FoundOk ok) {
    replica.outside.agreed(from, ok, now);
  }

  @Override
  public void founded(Founded founded) {
    replica.outside.founded(from, founded, now);
  }
}
