package dev.mcpbridge.cluster.peer;

/** What a peer needs of the event bus. */
interface Wire {
  void send(Peer to, byte[] frame);

  int member();

  void up(Peer peer);

  /** The node is connected and has a number. */
  void joined(Peer peer);

  void down(Peer peer, String reason);

  void message(Peer from, Message message);
}
