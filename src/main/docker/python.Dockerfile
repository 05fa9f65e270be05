# A server from PyPI; docker.command names its program, as pip installed it:
#   docker build -t time:1 -f python.Dockerfile --build-arg PACKAGE=mcp-server-time .
#   "docker": {"image": "time:1", "command": ["mcp-server-time"]}
FROM python:3.13-slim
ARG PACKAGE
RUN pip install --no-cache-dir "$PACKAGE"
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
