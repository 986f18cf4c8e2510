{{- define "turnpike.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "turnpike.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "turnpike.labels" -}}
{{ include "turnpike.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "turnpike.secret" -}}
{{- if .Values.secret.existing }}{{ .Values.secret.existing }}{{ else if .Values.secret.values }}{{ include "turnpike.name" . }}{{ end }}
{{- end }}

{{- define "turnpike.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "turnpike.name" .) }}
{{- end }}

{{/* The configuration as the nodes read it. */}}
{{- define "turnpike.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if .Values.metrics.tokenKey }}
{{- $_ := set $config "metrics" (merge (dict "token" (printf "${%s}" .Values.metrics.tokenKey)) ($config.metrics | default dict)) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* What does not go together ends the install with a sentence. */}}
{{- define "turnpike.check" -}}
{{- $secret := include "turnpike.secret" . }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.store.secretKey) (not .Values.config.store) }}
{{- fail "replicas: more than one node needs PostgreSQL: store.secretKey names the key of the Secret with its address" }}
{{- end }}
{{- if and (or .Values.store.secretKey .Values.metrics.tokenKey) (not $secret) }}
{{- fail "store.secretKey and metrics.tokenKey are keys of a Secret: name one in secret.existing, or give secret.values" }}
{{- end }}
{{- if and .Values.secret.values (not .Values.secret.existing) }}
{{- range $key := compact (list .Values.store.secretKey .Values.metrics.tokenKey) }}
{{- if not (hasKey $.Values.secret.values $key) }}{{ fail (printf "secret.values: expected %s, which store.secretKey or metrics.tokenKey names" $key) }}{{ end }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.tokenKey) }}
{{- fail "metrics.serviceMonitor: needs metrics.tokenKey, /metrics answers nobody else" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host: expected the name that callers use" }}
{{- end }}
{{- $drainMs := dig "server" "drainMs" 30000 .Values.config | int }}
{{- if le (mul (sub (int .Values.terminationGracePeriodSeconds) 5) 1000) $drainMs }}
{{- fail (printf "terminationGracePeriodSeconds: expected more than server.drainMs (%d ms) and the 5 s before it" $drainMs) }}
{{- end }}
{{- end }}
