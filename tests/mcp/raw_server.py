"""A stdio server without any library, so that tests can make it misbehave; it speaks the old era.

``python raw_server.py [setup.py]``: the file is run first and may replace anything here.
"""

import json
import os
import sys
import time

LIST = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = [{"name": "echo", "description": "Says it back.", "inputSchema": LIST}]
CAPABILITIES = {"tools": {"listChanged": True}}
METHODS = {}  # what other requests are answered with: a function of the parameters
LOG = os.environ.get("RAW_LOG")


def log(text):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def reply(request, result):
    send({"id": request["id"], "result": result})


def fail(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def notify(method, **params):
    send({"method": method, "params": params})


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(request, name, arguments):
    if name == "echo":
        reply(request, text(arguments.get("text", "")))
    else:
        fail(request, -32602, f"unknown tool {name}")


def list_tools(request):
    reply(request, {"tools": TOOLS})


def initialize(request):
    reply(
        request,
        {
            "protocolVersion": "2025-06-18",
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": "raw", "version": "1"},
        },
    )


def other(request):
    fail(request, -32601, "method not found")


def handle(message):
    method = message.get("method")
    log(method or "answer")
    if "id" not in message or method is None:
        got(message)
    elif method == "initialize":
        initialize(message)
    elif method == "tools/list":
        list_tools(message)
    elif method == "tools/call":
        call(message, message["params"]["name"], message["params"].get("arguments") or {})
    elif method == "ping":
        reply(message, {})
    elif method in METHODS:
        reply(message, METHODS[method](message.get("params") or {}))
    else:
        other(message)


def got(message):
    if message.get("method") == "notifications/cancelled":
        log("cancelled " + str(message["params"].get("requestId")))


def start():
    pass


if __name__ == "__main__":
    log(f"start {os.getpid()}")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), globals())
    start()
    for line in sys.stdin:
        handle(json.loads(line))
    log("end of input")
    time.sleep(0)
