"""A gRPC server of grpcio, whose reflection has only the version v1alpha; prints its port."""

import importlib
import sys
import tempfile
from concurrent import futures
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from grpc_tools import protoc

PROTO = """
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";

service Orders {
  rpc Place(Order) returns (Receipt);
  rpc Follow(Order) returns (stream Receipt);
}

message Order {
  string item = 1;
  int64 count = 2;
  oneof payment { string card = 3; bool cash = 4; }
}

message Receipt {
  string text = 1;
  int64 total = 2;
  google.protobuf.Timestamp at = 3;
}
"""


def compiled():
    folder = Path(tempfile.mkdtemp())
    (folder / "shop.proto").write_text(PROTO)
    well_known = Path(protoc.__file__).parent / "_proto"
    arguments = [f"-I{folder}", f"-I{well_known}", f"--python_out={folder}"]
    protoc.main(["protoc", *arguments, f"--grpc_python_out={folder}", "shop.proto"])
    sys.path.insert(0, str(folder))
    return importlib.import_module("shop_pb2"), importlib.import_module("shop_pb2_grpc")


messages, services = compiled()


class Orders(services.OrdersServicer):
    def Place(self, request, context):
        if request.count < 0:
            context.abort(grpc.StatusCode.OUT_OF_RANGE, "count is negative")
        paid = request.WhichOneof("payment") or "nothing"
        receipt = messages.Receipt(text=f"{request.item} for {paid}", total=request.count * 2)
        receipt.at.FromSeconds(0)
        return receipt

    def Follow(self, request, context):
        for number in range(request.count):
            yield messages.Receipt(text=request.item, total=number)


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
services.add_OrdersServicer_to_server(Orders(), server)
health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
names = [each.full_name for each in messages.DESCRIPTOR.services_by_name.values()]
reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
sys.stdin.read()
server.stop(None)
