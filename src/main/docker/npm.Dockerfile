# A server from npm; docker.command names its program, as npm installed it:
#   docker build -t files:1 -f npm.Dockerfile --build-arg PACKAGE=@modelcontextprotocol/server-filesystem .
#   "docker": {"image": "files:1", "command": ["mcp-server-filesystem", "/files"], "volumes": ["/srv/files:/files:rw"]}
FROM node:22-slim
ARG PACKAGE
RUN npm install --global --omit=dev --ignore-scripts "$PACKAGE"
ENV NODE_ENV=production
