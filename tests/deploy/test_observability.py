"""The collector stack: what it opens, what it trusts, and that its parts fit together.

No container runs here. A real Prometheus is asked in ``test_league_dashboard.py``.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from services.telemetry.metrics import CATALOGUE
from tests.deploy import prometheus

DEPLOY = Path(__file__).parents[2] / "deploy"
FOLDER = DEPLOY / "observability"


class Strict(BaseModel):
    """A part of the compose file; a key that it does not name is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Service(Strict):
    """A container, as far as this file describes one."""

    image: str
    cap_drop: list[Literal["ALL"]] = Field(min_length=1)
    security_opt: list[str]
    ports: list[str]
    volumes: list[str]
    command: list[str] = []
    depends_on: list[str] = []
    environment: dict[str, str] = {}
    read_only: bool = False


class Compose(Strict):
    """The file."""

    name: str
    closed: dict[str, Any] = Field(alias="x-closed")
    services: dict[str, Service]
    volumes: dict[str, dict[str, str]]


COMPOSE = Compose.model_validate(yaml.safe_load((DEPLOY / "observability.yaml").read_text()))
SERVICES = list(COMPOSE.services.items())
COLLECTOR = yaml.safe_load((FOLDER / "collector.yaml").read_text())
JAEGER = yaml.safe_load((FOLDER / "jaeger.yaml").read_text())
DASHBOARD = json.loads((FOLDER / "grafana" / "dashboards" / "league.json").read_text())
PANELS = DASHBOARD["panels"]

each_service = pytest.mark.parametrize(("name", "service"), SERVICES, ids=list(COMPOSE.services))


# ---- the compose file --------------------------------------------------------------------------


@each_service
def test_a_port_is_open_on_loopback_only(name: str, service: Service) -> None:
    assert service.ports
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in service.ports)


@each_service
def test_an_image_has_a_version(name: str, service: Service) -> None:
    assert re.fullmatch(r"[a-z-]+/[a-z-]+:v?\d+\.\d+\.\d+", service.image)


@each_service
def test_what_it_mounts_is_there_and_read_only(name: str, service: Service) -> None:
    for volume in service.volumes:
        source, target, *options = volume.split(":")
        if source in COMPOSE.volumes:
            continue
        assert options == ["ro"]
        assert (DEPLOY / source).exists()
        assert target.startswith("/etc/")


@each_service
def test_it_may_gain_no_rights(name: str, service: Service) -> None:
    assert service.security_opt == ["no-new-privileges:true"]


@each_service
def test_it_reads_the_configuration_that_it_mounts(name: str, service: Service) -> None:
    mounted = [volume.split(":")[1] for volume in service.volumes]
    named = [word.partition("=")[2] for word in service.command if ".yaml" in word]
    assert len(named) == (0 if name == "grafana" else 1)
    assert set(named) <= set(mounted)


@each_service
def test_it_waits_for_services_that_there_are(name: str, service: Service) -> None:
    assert set(service.depends_on) < COMPOSE.services.keys()


def test_no_secret_stands_in_it() -> None:
    names = [name for _, service in SERVICES for name in service.environment]
    assert not [name for name in names if re.search("PASSWORD|SECRET|TOKEN|KEY", name)]


def test_grafana_has_no_administrator_and_shows_without_changing() -> None:
    environment = COMPOSE.services["grafana"].environment
    assert environment["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert environment["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert environment["GF_AUTH_BASIC_ENABLED"] == "false"


# ---- what the parts are told -------------------------------------------------------------------


@pytest.mark.parametrize("told", [COLLECTOR, JAEGER], ids=["collector", "jaeger"])
def test_a_pipeline_names_what_is_configured_and_all_of_it(told: dict[str, Any]) -> None:
    for kind in ("receivers", "processors", "exporters"):
        used = {
            name for pipeline in told["service"]["pipelines"].values() for name in pipeline[kind]
        }
        assert used == told[kind].keys(), kind
    assert set(told["service"].get("extensions", [])) == told.get("extensions", {}).keys()


def test_the_collector_looks_at_its_memory_first() -> None:
    pipelines = COLLECTOR["service"]["pipelines"].values()
    assert all(pipeline["processors"][0] == "memory_limiter" for pipeline in pipelines)


def test_the_collector_takes_what_hanse_sends() -> None:
    assert COLLECTOR["receivers"]["otlp"]["protocols"]["http"]["endpoint"] == "0.0.0.0:4318"
    assert "127.0.0.1:4318:4318" in COMPOSE.services["collector"].ports
    assert COLLECTOR["service"]["pipelines"].keys() == {"traces", "metrics"}


def test_jaeger_takes_what_the_collector_sends() -> None:
    to = urlsplit(COLLECTOR["exporters"]["otlp_http/jaeger"]["endpoint"])
    assert to.hostname in COMPOSE.services
    receiver = JAEGER["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    assert receiver == f"0.0.0.0:{to.port}"


def test_jaeger_shows_the_traces_that_it_keeps() -> None:
    [kept] = JAEGER["extensions"]["jaeger_storage"]["backends"]
    assert JAEGER["extensions"]["jaeger_query"]["storage"]["traces"] == kept
    assert JAEGER["exporters"]["jaeger_storage_exporter"]["trace_storage"] == kept


def test_prometheus_fetches_what_the_collector_offers() -> None:
    [scraped] = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())["scrape_configs"]
    [[target]] = [config["targets"] for config in scraped["static_configs"]]
    host, _, port = target.partition(":")
    assert host in COMPOSE.services
    assert COLLECTOR["exporters"]["prometheus"]["endpoint"] == f"0.0.0.0:{port}"
    assert scraped["honor_labels"] is True


@pytest.mark.skipif(prometheus.CHECKER is None, reason="needs the Debian package prometheus")
def test_prometheus_itself_takes_its_configuration() -> None:
    words = [str(prometheus.CHECKER), "check", "config", str(FOLDER / "prometheus.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_asks_services_that_there_are() -> None:
    told = yaml.safe_load((FOLDER / "grafana" / "datasources" / "hanse.yaml").read_text())
    inside = {"prometheus": 9090, "jaeger": 16686}
    for source in told["datasources"]:
        to = urlsplit(source["url"])
        assert inside[str(to.hostname)] == to.port
        assert source["uid"] == source["type"] == to.hostname


def test_grafana_finds_the_dashboard() -> None:
    told = yaml.safe_load((FOLDER / "grafana" / "providers" / "hanse.yaml").read_text())
    [provider] = told["providers"]
    grafana = COMPOSE.services["grafana"]
    assert f"./observability/grafana/dashboards:{provider['options']['path']}:ro" in grafana.volumes
    home = grafana.environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == f"{provider['options']['path']}/league.json"


# ---- the dashboard -----------------------------------------------------------------------------


def test_panels_lie_side_by_side() -> None:
    places = [panel["gridPos"] for panel in PANELS]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert all(0 <= x < 24 for x, _ in cells)


def test_panels_have_ids_and_titles_of_their_own() -> None:
    for key in ("id", "title"):
        assert len({panel[key] for panel in PANELS}) == len(PANELS)


def test_every_query_asks_prometheus_about_the_chosen_runs() -> None:
    targets = [target for panel in PANELS for target in panel["targets"]]
    for target in targets:
        assert target["datasource"]["uid"] == "prometheus"
        asked = re.findall(r"hanse_\w+{([^}]*)}", target["expr"])
        assert asked
        assert set(asked) == {'instance=~"$run"'}


def test_every_metric_of_hanse_is_in_some_panel() -> None:
    asked = " ".join(target["expr"] for panel in PANELS for target in panel["targets"])
    names = {name.replace(".", "_") for name in CATALOGUE}
    assert {name for name in names if not re.search(rf"\b{name}", asked)} == set()
