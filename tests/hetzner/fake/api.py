"""The routes: what a call asks of a project, in pages, behind tokens, limits and faults."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.hetzner.fake import catalogue
from tests.hetzner.fake.faults import Kind, Problem, status_of
from tests.hetzner.fake.records import START

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tests.hetzner.fake.faults import Fault
    from tests.hetzner.fake.project import Project

    Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]

MOMENT = 0.3
LONGEST_PAGE = 50
USUAL_PAGE = 25
PROJECT = web.RequestKey("project", object)


@dataclass
class Account:
    """The tokens that are valid, each of one project."""

    projects: dict[str, Project] = field(default_factory=dict)


def application(account: Account) -> web.Application:
    """The API of all projects."""
    app = web.Application(middlewares=[_Gate(account).enter])
    app.add_routes(
        [
            web.get("/v1/servers", list_servers),
            web.post("/v1/servers", create_server),
            web.get("/v1/servers/actions", list_actions),
            web.get("/v1/servers/{id:\\d+}", get_server),
            web.delete("/v1/servers/{id:\\d+}", delete_server),
            web.post("/v1/servers/{id:\\d+}/actions/{name}", act),
            web.get("/v1/placement_groups", list_groups),
            web.post("/v1/placement_groups", create_group),
            web.delete("/v1/placement_groups/{id:\\d+}", delete_group),
            web.get("/v1/server_types", list_types),
            web.get("/v1/locations", list_locations),
            web.get("/v1/pricing", get_pricing),
            web.get("/v1/images", list_images),
            web.get("/v1/images/{id:\\d+}", get_image),
            web.get("/v1/ssh_keys", list_ssh_keys),
            web.get("/v1/networks", list_networks),
            web.get("/v1/firewalls", list_firewalls),
        ]
    )
    return app


class _Gate:
    """What every call passes: the token, the count, the limit, and what goes wrong today."""

    def __init__(self, account: Account) -> None:
        self._account = account

    @property
    def enter(self) -> Any:
        """As middleware."""

        @web.middleware
        async def pass_gate(request: web.Request, handler: Handle) -> web.StreamResponse:
            token = request.headers.get("Authorization", "").removeprefix("Bearer ")
            project = self._account.projects.get(token)
            if project is None:
                return _refusal(Problem("unauthorized", "unable to authenticate"))
            request[PROJECT] = project
            project.catch_up()
            project.calls[_call(request)] += 1
            allowed = project.bucket.take(project.now)
            headers = project.bucket.headers(START.timestamp() + project.now)
            answer: web.StreamResponse
            if not allowed:
                # As the real one does, the text quotes a part of the token.
                quoted = f"limit of 3600 requests per hour reached ({token[:8]}...)"
                answer = _refusal(Problem("rate_limit_exceeded", quoted))
            else:
                answer = await _answered(request, handler)
            answer.headers.update(headers)
            answer.headers["X-Correlation-Id"] = f"correlation-{sum(project.calls.values())}"
            return answer

        return pass_gate


async def _answered(request: web.Request, handler: Handle) -> web.StreamResponse:
    fault = _project(request).faults.strikes(_call(request))
    if fault is not None and fault.kind not in {Kind.LOST, Kind.SLOW}:
        return _struck(request, fault)
    try:
        answer = await handler(request)
    except Problem as problem:
        return _refusal(problem)
    if fault is not None and fault.kind is Kind.LOST:
        _cut(request)
    if fault is not None and fault.kind is Kind.SLOW:
        await asyncio.sleep(MOMENT)
    return answer


def _struck(request: web.Request, fault: Fault) -> web.Response:
    if fault.kind is Kind.GARBAGE:
        return web.Response(status=fault.status or 502, text="<html>Bad Gateway</html>")
    if fault.kind is Kind.NONSENSE:
        return web.json_response({"error": "no"}, status=fault.status or 500)
    if fault.kind is Kind.CUT:
        _cut(request)
    return _refusal(Problem(fault.code, fault.message), status=fault.status)


def _cut(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()


def _refusal(problem: Problem, *, status: int | None = None) -> web.Response:
    error = {"code": problem.code, "message": problem.message, "details": problem.details}
    return web.json_response({"error": error}, status=status or status_of(problem.code))


def _call(request: web.Request) -> str:
    path = request.path.removeprefix("/v1")
    steps = ("{id}" if step.isdigit() else step for step in path.split("/"))
    return f"{request.method} {'/'.join(steps)}"


def _project(request: web.Request) -> Project:
    project: Any = request[PROJECT]
    return project  # type: ignore[no-any-return]


def _page(request: web.Request, name: str, found: Iterable[dict[str, Any]]) -> web.Response:
    entries = list(found)
    size = min(int(request.query.get("per_page", USUAL_PAGE)), LONGEST_PAGE)
    page = int(request.query.get("page", 1))
    last = max(1, -(-len(entries) // size))
    pagination = {
        "page": page,
        "per_page": size,
        "previous_page": page - 1 if page > 1 else None,
        "next_page": page + 1 if page < last else None,
        "last_page": last,
        "total_entries": len(entries),
    }
    shown = entries[(page - 1) * size : page * size]
    return web.json_response({name: shown, "meta": {"pagination": pagination}})


def _selected(labels: dict[str, str], selector: str) -> bool:
    """Only what growth asks for: `key==value` and `key`, joined by commas."""
    for part in filter(None, selector.split(",")):
        key, sign, value = part.partition("==")
        if key not in labels or (sign and labels[key] != value):
            return False
    return True


def _told(project: Project, server: Any) -> dict[str, Any]:
    told: dict[str, Any] = server.as_json(
        project.now, server_type=project.types[server.body["server_type"]].as_json()
    )
    return told


async def list_servers(request: web.Request) -> web.Response:
    """GET /servers, with names and labels."""
    project, name = _project(request), request.query.get("name")
    if request.query.get("page", "1") != "1":
        project.between_pages()
    selector = request.query.get("label_selector", "")
    found = [
        each
        for each in project.visible()
        if (name is None or each.name == name) and _selected(each.labels, selector)
    ]
    return _page(request, "servers", (_told(project, each) for each in found))


async def get_server(request: web.Request) -> web.Response:
    """GET /servers/{id}."""
    project = _project(request)
    return web.json_response({"server": _told(project, _server(request))})


async def create_server(request: web.Request) -> web.Response:
    """POST /servers."""
    project = _project(request)
    server = project.create_server(await request.json())
    made, *rest = server.actions
    answer = {
        "server": _told(project, server),
        "action": made.as_json(project.now),
        "next_actions": [each.as_json(project.now) for each in rest],
        "root_password": None if server.body.get("ssh_keys") else "a-root-password-to-throw-away",
    }
    return web.json_response(answer, status=201)


async def delete_server(request: web.Request) -> web.Response:
    """DELETE /servers/{id}."""
    project = _project(request)
    action = project.delete_server(_server(request))
    return web.json_response({"action": action.as_json(project.now)})


async def act(request: web.Request) -> web.Response:
    """POST /servers/{id}/actions/...: what growth asks of a server that is off."""
    project, server = _project(request), _server(request)
    if request.match_info["name"] == "attach_to_network":
        action = project.attach(server, await request.json())
    else:
        action = project.power_on(server)
    return web.json_response({"action": action.as_json(project.now)}, status=201)


async def list_actions(request: web.Request) -> web.Response:
    """GET /servers/actions, by status, newest first."""
    project = _project(request)
    wanted = request.query.getall("status", [])
    actions = [each for server in project.servers.values() for each in server.actions]
    actions.sort(key=lambda each: each.id, reverse=request.query.get("sort") == "id:desc")
    found = (each for each in actions if not wanted or each.status(project.now) in wanted)
    return _page(request, "actions", (each.as_json(project.now) for each in found))


async def list_groups(request: web.Request) -> web.Response:
    """GET /placement_groups, by labels."""
    selector = request.query.get("label_selector", "")
    groups = _project(request).groups.values()
    found = (each.as_json() for each in groups if _selected(each.labels, selector))
    return _page(request, "placement_groups", found)


async def create_group(request: web.Request) -> web.Response:
    """POST /placement_groups."""
    group = _project(request).create_group(await request.json())
    return web.json_response({"placement_group": group.as_json(), "action": None}, status=201)


async def delete_group(request: web.Request) -> web.Response:
    """DELETE /placement_groups/{id}."""
    project, number = _project(request), int(request.match_info["id"])
    if number not in project.groups:
        raise Problem("not_found")
    del project.groups[number]
    return web.Response(status=204)


async def list_types(request: web.Request) -> web.Response:
    """GET /server_types."""
    types = _project(request).types.values()
    return _page(request, "server_types", (each.as_json() for each in types))


async def list_locations(request: web.Request) -> web.Response:
    """GET /locations."""
    return _page(request, "locations", catalogue.locations())


async def get_pricing(_: web.Request) -> web.Response:
    """GET /pricing."""
    return web.json_response({"pricing": catalogue.pricing()})


async def list_images(request: web.Request) -> web.Response:
    """GET /images, by name and architecture."""
    name, wanted = request.query.get("name"), request.query.getall("architecture", [])
    found = (
        each.as_json()
        for each in _project(request).images
        if (name is None or each.name == name) and (not wanted or each.architecture in wanted)
    )
    return _page(request, "images", found)


async def get_image(request: web.Request) -> web.Response:
    """GET /images/{id}."""
    number = int(request.match_info["id"])
    found = [each for each in _project(request).images if each.id == number]
    if not found:
        raise Problem("not_found", f"image with ID '{number}' not found")
    return web.json_response({"image": found[0].as_json()})


async def list_ssh_keys(request: web.Request) -> web.Response:
    """GET /ssh_keys."""
    return _page(request, "ssh_keys", (each.as_json() for each in _project(request).ssh_keys))


async def list_networks(request: web.Request) -> web.Response:
    """GET /networks."""
    project = _project(request)
    found = (each.as_json(project.attached(each.id)) for each in project.networks)
    return _page(request, "networks", found)


async def list_firewalls(request: web.Request) -> web.Response:
    """GET /firewalls."""
    return _page(request, "firewalls", (each.as_json() for each in _project(request).firewalls))


def _server(request: web.Request) -> Any:
    server = _project(request).servers.get(int(request.match_info["id"]))
    if server is None:
        raise Problem("not_found", f"server with ID '{request.match_info['id']}' not found")
    return server
