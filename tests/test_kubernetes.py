"""The manifests under docker/kubernetes: Kubernetes takes them, their commands and images are those of this version, and their parts fit together."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import doc_blocks
import engines
import pytest

from gsw_graph.engine import local
from gsw_graph.moving import fileset

FOLDER = Path(__file__).parents[1] / "docker" / "kubernetes"
RAY_JOB = {"entrypoint", "shutdownAfterJobFinishes", "backoffLimit", "rayClusterSpec"}  # of the CRD of KubeRay 1.5, as far as it is used here
RAY_CLUSTER = {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
RAY_GROUP = {"rayStartParams", "template", "groupName", "replicas", "minReplicas", "maxReplicas"}

yaml = engines.needs("yaml", "test")
validate = engines.needs("kubernetes_validate", "test")


def manifests() -> Iterator[dict[str, Any]]:
    for name in ("bulk.yaml", "neo4j.yaml"):
        yield from yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))


def pods() -> Iterator[dict[str, Any]]:
    """Templates of pods."""
    for one in manifests():
        if one["kind"] == "RayJob":
            cluster = one["spec"]["rayClusterSpec"]
            yield from (group["template"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]))
        elif "template" in one["spec"]:
            yield one["spec"]["template"]


def test_kubernetes_takes_them() -> None:
    ready = [one for one in manifests() if one["kind"] != "RayJob"]
    assert [one["kind"] for one in ready] == ["PersistentVolumeClaim", "Service", "StatefulSet", "Job"]
    for one in (*ready, *({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, **pod} for pod in pods())):
        validate.validate(one, validate.latest_version(), strict=True)
    with pytest.raises(validate.ValidationError):
        validate.validate({**ready[-1], "spec": {**ready[-1]["spec"], "unheard": 1}}, validate.latest_version(), strict=True)
    (job,) = (one for one in manifests() if one["kind"] == "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    assert set(job["spec"]) <= RAY_JOB
    assert set(cluster) <= RAY_CLUSTER
    assert all(set(group) <= RAY_GROUP for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]))


def test_commands_and_images_are_those_of_this_version() -> None:
    commands = [one["spec"]["entrypoint"] for one in manifests() if one["kind"] == "RayJob"]
    containers = [one for pod in pods() for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])]
    commands += [shlex.join(one["command"]) for one in containers if "command" in one]
    called = [one for one in commands if one.startswith("gswgraph ")]
    assert [("--ray auto" in one, "doctor --mend" in one) for one in called] == [(True, False), (False, True)]
    for one in called:
        doc_blocks.check_options(one)
    (script,) = (one for one in commands if fileset.SCRIPT in one)
    assert f"/shared/files/{fileset.SCRIPT} neo4j" in script
    assert "--out /shared/files" in called[0]
    assert {one["image"] for one in containers} == {"IMAGE", f"neo4j:{local.RELEASES['5.26']}-community"}
    image = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    (ray,) = re.findall(r"^FROM rayproject/ray:([\d.]+)-py311$", image, re.MULTILINE)
    (cluster,) = (one["spec"]["rayClusterSpec"] for one in manifests() if one["kind"] == "RayJob")
    assert cluster["rayVersion"] == ray
    assert re.findall(r"'gswgraph\[ray,[a-z,]+\]==([\d.]+)'", image) == [version("gswgraph")]


def test_what_is_mounted_is_there() -> None:
    claims = {one["metadata"]["name"] for one in manifests() if one["kind"] == "PersistentVolumeClaim"}
    (neo4j,) = (one for one in manifests() if one["kind"] == "StatefulSet")
    made = {one["metadata"]["name"] for one in neo4j["spec"]["volumeClaimTemplates"]}
    for pod in pods():
        volumes = {one["name"]: one["persistentVolumeClaim"]["claimName"] for one in pod["spec"].get("volumes", ())}
        assert set(volumes.values()) <= claims
        mounted = {mount["name"] for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]) for mount in one.get("volumeMounts", ())}
        assert mounted <= set(volumes) | made
    (service,) = (one for one in manifests() if one["kind"] == "Service")
    assert service["metadata"]["name"] == neo4j["spec"]["serviceName"]
    assert service["spec"]["selector"] == neo4j["spec"]["template"]["metadata"]["labels"]
