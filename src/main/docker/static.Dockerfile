# A server that is one static program, and nothing else:
#   docker build -t tool:1 -f static.Dockerfile --build-arg PROGRAM=path/to/program .
FROM scratch
ARG PROGRAM
COPY ${PROGRAM} /server
ENTRYPOINT ["/server"]
