"""Validates objects of Kubernetes' extensions against the schemas of their definitions.

Arguments: a file with the objects, and files with the definitions. Fails if an object does not fit,
has fields that the schema does not know, or has no definition. Kinds of Kubernetes itself are left out.
Prints the kinds that it has validated.
"""

import sys

import jsonschema
import yaml

OWN_GROUPS = {"apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io"}


def closed(schema):
    """The schema without unknown fields, which a cluster would drop."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: closed(value) for key, value in schema.items()}
    if isinstance(copy.get("properties"), dict) and "type" in copy and not copy.get("x-kubernetes-preserve-unknown-fields"):
        copy.setdefault("additionalProperties", False)
    return copy


class Loader(yaml.CSafeLoader):
    """Reads "=" as text, for which PyYAML has a type of its own."""


Loader.add_constructor("tag:yaml.org,2002:value", Loader.construct_scalar)


def definitions(files):
    found = {}
    for file in files:
        for each in yaml.load_all(open(file), Loader):
            if each and each["kind"] == "CustomResourceDefinition":
                spec = each["spec"]
                for version in spec["versions"]:
                    name = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
                    found[name] = version["schema"]["openAPIV3Schema"]
    return found


def schema_of(definition):
    schema = closed(definition)
    # Metadata is Kubernetes' own, and checked there.
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


known = definitions(sys.argv[2:])
for item in yaml.safe_load_all(open(sys.argv[1])):
    group = item["apiVersion"].rpartition("/")[0] if item else ""
    if group and group not in OWN_GROUPS:
        kind = f"{item['apiVersion']} {item['kind']}"
        if kind not in known:
            sys.exit(f"no definition of {kind}")
        errors = list(jsonschema.Draft202012Validator(schema_of(known[kind])).iter_errors(item))
        for error in errors:
            print(f"{kind} {item['metadata']['name']}: {error.json_path}: {error.message}", file=sys.stderr)
        if errors:
            sys.exit(1)
        print(kind)
