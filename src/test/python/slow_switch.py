"""An Ethernet switch that delays all frames and loses some: for kernels without netem."""

import heapq
import random
import select
import socket
import sys
import time

SOL_PACKET = 263
PACKET_VNET_HDR = 15
ETH_P_ALL = 3
HEADER = 10  # virtio_net_hdr: keeps segmentation and checksums that are left to the hardware


def port(link):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    packets.bind((link, 0))
    packets.setblocking(False)
    return packets


def run(delay, loss, links):
    ports = [port(link) for link in links]
    known = {}
    waiting = []
    count = 0
    print("ready", flush=True)
    while True:
        wait = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for source in select.select(ports, [], [], wait)[0]:
            frame, origin = source.recvfrom(HEADER + 65_600)
            if origin[2] == socket.PACKET_OUTGOING:
                continue
            known[frame[HEADER + 6 : HEADER + 12]] = source
            if random.random() >= loss:
                count += 1
                heapq.heappush(waiting, (time.monotonic() + delay, count, source, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, source, frame = heapq.heappop(waiting)
            target = known.get(frame[HEADER : HEADER + 6])
            for each in [target] if target else ports:
                if each is not source:
                    try:
                        each.send(frame)
                    except OSError:
                        pass  # as a full queue: the frame is lost


run(float(sys.argv[1]) / 1000, float(sys.argv[2]) / 100, sys.argv[3:])
