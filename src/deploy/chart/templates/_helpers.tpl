{{- define "mcp-bridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "mcp-bridge.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "mcp-bridge.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "mcp-bridge.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "mcp-bridge.nodes" -}}
{{ include "mcp-bridge.fullname" . }}-nodes
{{- end }}

{{- define "mcp-bridge.selector" -}}
app.kubernetes.io/name: {{ include "mcp-bridge.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mcp-bridge.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "mcp-bridge.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "mcp-bridge.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "mcp-bridge.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "mcp-bridge.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "mcp-bridge.scheme" -}}
{{- if dig "http" "tls" "" .Values.config }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- /* The names by which clients reach the bridge; it refuses others. */ -}}
{{- define "mcp-bridge.hosts" -}}
{{- $service := include "mcp-bridge.fullname" . }}
{{- $hosts := list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) }}
{{- if .Values.ingress.enabled }}
{{- range .Values.ingress.hosts }}{{ $hosts = append $hosts .host }}{{ end }}
{{- end }}
{{- if .Values.httpRoute.enabled }}
{{- $hosts = concat $hosts .Values.httpRoute.hostnames }}
{{- end }}
{{- concat $hosts (dig "http" "hosts" list .Values.config) | uniq | toJson }}
{{- end }}

{{- /* The configuration, with what the chart decides. */ -}}
{{- define "mcp-bridge.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $isOpen := dig "http" "insecure" false $config }}
{{- if not (or (dig "auth" "keys" list $config) (dig "auth" "issuers" list $config) $isOpen) }}
{{- fail "config.auth.keys or config.auth.issuers is needed, since other pods reach the bridge: mcp-bridge key new makes a key" }}
{{- end }}
{{- $http := merge (dict "host" "0.0.0.0" "port" 3000 "openHealth" true "hosts" (fromJsonArray (include "mcp-bridge.hosts" .))) (omit (default dict $config.http) "hosts") }}
{{- $_ := set $config "http" $http }}
{{- if .Values.cluster.enabled }}
{{- $members := list }}
{{- range $i := until 3 }}
{{- $members = append $members (printf "%s-%d.%s.%s.svc:7800" (include "mcp-bridge.fullname" $) $i (include "mcp-bridge.nodes" $) $.Release.Namespace) }}
{{- end }}
{{- $_ := set $config "cluster" (dict "name" (include "mcp-bridge.fullname" .) "members" $members "lease" .Values.cluster.lease "secret" "${env:MCP_CLUSTER_SECRET}") }}
{{- end }}
{{- $config | toPrettyJson }}
{{- end }}

{{- define "mcp-bridge.checks" -}}
{{- range $key := list "host" "port" }}
{{- if hasKey (default dict $.Values.config.http) $key }}
{{- fail (printf "config.http.%s is set by the chart" $key) }}
{{- end }}
{{- end }}
{{- if hasKey .Values.config "cluster" }}
{{- fail "config.cluster is set by the chart: use cluster" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (not .Values.cluster.enabled) }}
{{- fail "autoscaling needs cluster.enabled: only the nodes of a cluster share confirmations, sessions and quotas" }}
{{- end }}
{{- if and .Values.cluster.enabled (not .Values.persistence.enabled) }}
{{- fail "cluster.enabled needs persistence.enabled: pods that come back without their volumes lose what the cluster has agreed on" }}
{{- end }}
{{- if and .Values.cluster.enabled (not .Values.cluster.existingSecret) }}
{{- fail "cluster.existingSecret is needed: a secret with at least 16 random characters in the entry cluster.existingSecretKey" }}
{{- end }}
{{- end }}

{{- define "mcp-bridge.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .Values.persistence.storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.persistence.size }}
{{- end }}
