"""The RayJob for Kubernetes has no key that KubeRay would drop, and asks for no right.

An API server silently drops what a resource's schema does not name, so a misspelt key is a setting
that is missing. The schema here is of the fields that the file uses, as KubeRay 1.5.1 and
Kubernetes 1.33 have them; it takes no others.
"""

from __future__ import annotations

import copy
import shlex
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from services.config import RunConfig

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCUMENTS = list(yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text()))

# ---- what the fields are -----------------------------------------------------------------------

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 0}
ID: Schema = {"type": "integer", "minimum": 1}
TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}


def strict(optional: Schema | None = None, **required: Schema) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def several(items: Schema) -> Schema:
    """A list that is not empty."""
    return {"type": "array", "items": items, "minItems": 1}


AMOUNT = strict(
    cpu={"type": "string", "pattern": r"^\d+m?$"},
    memory={"type": "string", "pattern": r"^\d+[MG]i$"},
)
PROBE = strict(
    httpGet=strict(path=TEXT, port=ID),
    periodSeconds=ID,
    failureThreshold=ID,
    optional={"timeoutSeconds": ID},
)
CONTAINER = strict(
    name=TEXT,
    image=TEXT,
    securityContext=strict(
        allowPrivilegeEscalation={"const": False},
        capabilities=strict(drop={"const": ["ALL"]}),
        readOnlyRootFilesystem={"const": True},
    ),
    resources=strict(requests=AMOUNT, limits=AMOUNT),
    volumeMounts=several(strict(name=TEXT, mountPath=TEXT, optional={"subPath": TEXT})),
    optional={
        "env": several(strict(name=TEXT, value=TEXT)),
        "startupProbe": PROBE,
        "readinessProbe": PROBE,
        "livenessProbe": PROBE,
    },
)
VOLUME = {
    "oneOf": [
        strict(name=TEXT, configMap=strict(name=TEXT)),
        strict(name=TEXT, persistentVolumeClaim=strict(claimName=TEXT)),
        strict(name=TEXT, emptyDir=strict({"medium": {"const": "Memory"}, "sizeLimit": TEXT})),
    ]
}
POD = strict(
    metadata=strict(labels=TEXTS),
    spec=strict(
        automountServiceAccountToken={"const": False},
        securityContext=strict(
            runAsNonRoot={"const": True},
            runAsUser=ID,
            runAsGroup=ID,
            fsGroup=ID,
            seccompProfile=strict(type={"const": "RuntimeDefault"}),
        ),
        containers=several(CONTAINER),
        volumes=several(VOLUME),
        optional={"restartPolicy": {"const": "Never"}},
    ),
)
RAY_JOB = strict(
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    # The names that KubeRay makes of it have to fit into the 63 characters of a label.
    metadata=strict(name={"type": "string", "pattern": r"^[a-z][a-z0-9-]{0,45}[a-z0-9]$"}),
    spec=strict(
        entrypoint=TEXT,
        submissionMode={"const": "K8sJobMode"},
        backoffLimit=NUMBER,
        shutdownAfterJobFinishes={"type": "boolean"},
        ttlSecondsAfterFinished=NUMBER,
        submitterPodTemplate=POD,
        rayClusterSpec=strict(
            rayVersion=TEXT,
            authOptions=strict(mode={"const": "token"}),
            headGroupSpec=strict(
                serviceType={"const": "ClusterIP"}, rayStartParams=TEXTS, template=POD
            ),
            workerGroupSpecs=several(
                strict(
                    groupName=TEXT,
                    replicas=NUMBER,
                    minReplicas=NUMBER,
                    maxReplicas=NUMBER,
                    rayStartParams=TEXTS,
                    template=POD,
                )
            ),
        ),
    ),
)


def _document(kind: str) -> dict[str, Any]:
    [document] = [document for document in DOCUMENTS if document["kind"] == kind]
    found: dict[str, Any] = document
    return found


JOB = _document("RayJob")["spec"]
CLUSTER = JOB["rayClusterSpec"]
HEAD = CLUSTER["headGroupSpec"]
[WORKERS] = CLUSTER["workerGroupSpecs"]
PODS = [JOB["submitterPodTemplate"], HEAD["template"], WORKERS["template"]]

each_pod = pytest.mark.parametrize("pod", PODS, ids=["submitter", "head", "worker"])
each_group = pytest.mark.parametrize("group", [HEAD, WORKERS], ids=["head", "worker"])


def test_its_fields_are_kuberays() -> None:
    jsonschema.validate(_document("RayJob"), RAY_JOB)


@pytest.mark.parametrize(
    "path",
    [
        "spec",
        "spec.rayClusterSpec",
        "spec.rayClusterSpec.headGroupSpec.template.spec",
        "spec.submitterPodTemplate.spec.containers.0.securityContext",
    ],
)
def test_a_misspelt_key_is_found(path: str) -> None:
    job = copy.deepcopy(_document("RayJob"))
    part: Any = job
    for key in path.split("."):
        part = part[int(key)] if key.isdecimal() else part[key]
    part["misspelt"] = True
    with pytest.raises(jsonschema.ValidationError, match="misspelt"):
        jsonschema.validate(job, RAY_JOB)


# ---- what they say -----------------------------------------------------------------------------


def test_ray_is_of_the_version_that_is_pinned() -> None:
    assert CLUSTER["rayVersion"] == version("ray")


def test_a_league_finds_all_its_workers() -> None:
    assert WORKERS["replicas"] == WORKERS["minReplicas"] == WORKERS["maxReplicas"]


@each_pod
def test_what_a_container_mounts_is_a_volume_of_its_pod(pod: dict[str, Any]) -> None:
    [container] = pod["spec"]["containers"]
    mounted = [mount["name"] for mount in container["volumeMounts"]]
    assert sorted(mounted) == sorted(volume["name"] for volume in pod["spec"]["volumes"])


@each_pod
def test_its_network_policy_is_about_every_pod(pod: dict[str, Any]) -> None:
    policy = _document("NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == pod["metadata"]["labels"]


def test_only_its_own_pods_and_the_operator_are_let_in() -> None:
    policy = _document("NetworkPolicy")["spec"]
    own, operator = policy["ingress"]
    assert policy["policyTypes"] == ["Ingress"]
    assert own == {"from": [{"podSelector": policy["podSelector"]}]}
    assert operator["ports"] == [{"port": 8265}]


@each_group
def test_a_node_is_asked_whether_its_ray_is_well(group: dict[str, Any]) -> None:
    [container] = group["template"]["spec"]["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/api/healthz", "port": 52365}


@each_group
def test_the_object_store_fits_into_its_volume(group: dict[str, Any]) -> None:
    pod = group["template"]["spec"]
    [name] = [
        mount["name"]
        for mount in pod["containers"][0]["volumeMounts"]
        if mount["mountPath"] == "/dev/shm"
    ]
    [volume] = [volume["emptyDir"] for volume in pod["volumes"] if volume["name"] == name]
    assert volume["medium"] == "Memory"
    room = int(volume["sizeLimit"].removesuffix("Gi")) * 2**30
    assert int(group["rayStartParams"]["object-store-memory"]) <= room


@pytest.mark.parametrize(("name", "group"), [("head", HEAD), ("worker", WORKERS)])
def test_ray_is_told_what_it_is_told_on_hosts_of_ones_own(name: str, group: dict[str, Any]) -> None:
    local = yaml.safe_load((DEPLOY / "local.yaml").read_text())
    words = local[f"{name}_start_ray_commands"][-1].partition("ray start")[0].split()
    wanted = dict(word.split("=", 1) for word in words)
    assert wanted.pop("RAY_AUTH_MODE") == CLUSTER["authOptions"]["mode"]
    [container] = group["template"]["spec"]["containers"]
    assert {one["name"]: one["value"] for one in container["env"]} == wanted


def test_its_run_file_is_mounted_where_the_command_reads_it() -> None:
    command = shlex.split(JOB["entrypoint"])
    assert command[:2] == ["hanse", "run"]
    [(file, text)] = _document("ConfigMap")["data"].items()
    assert {"name": "league", "mountPath": command[2], "subPath": file} in _mounts(HEAD)
    config = RunConfig.parse(tomllib.loads(text), file)
    assert config.name == Path(file).stem


def test_its_run_is_written_to_the_volume_that_stays() -> None:
    command = shlex.split(JOB["entrypoint"])
    folder = Path(command[command.index("--out") + 1]).parent
    assert {"name": "runs", "mountPath": str(folder)} in _mounts(HEAD)
    claim = {"claimName": _document("PersistentVolumeClaim")["metadata"]["name"]}
    runs = {"name": "runs", "persistentVolumeClaim": claim}
    assert runs in HEAD["template"]["spec"]["volumes"]


def test_its_command_needs_no_shell() -> None:
    assert not set(JOB["entrypoint"]) & set("&|;$<>`\"'\\\n")


def test_no_token_stands_in_it() -> None:
    assert {document["kind"] for document in DOCUMENTS}.isdisjoint({"Secret"})
    for pod in PODS:
        [container] = pod["spec"]["containers"]
        assert not [one for one in container.get("env", []) if "TOKEN" in one["name"]]


def _mounts(group: dict[str, Any]) -> list[dict[str, str]]:
    mounts: list[dict[str, str]] = group["template"]["spec"]["containers"][0]["volumeMounts"]
    return mounts
