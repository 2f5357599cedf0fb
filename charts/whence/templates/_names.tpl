{{- /* Names, labels and the list of components: used by every template. */ -}}

{{- define "whence.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- /* At most 40 characters: the names of catalog objects and components are made from it. */ -}}
{{- define "whence.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "whence.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "whence.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "whence.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: whence
{{ include "whence.selector" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* For every object, besides its own; nothing if there are none. Arguments: root; own: annotations that win. */ -}}
{{- define "whence.annotations" -}}
{{- with mergeOverwrite (dict) (default (dict) .root.Values.commonAnnotations) (default (dict) .own) -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- define "whence.selector" -}}
app.kubernetes.io/name: {{ include "whence.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "whence.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* Of the address that people give to websites; the programs answer without it. */ -}}
{{- define "whence.basePath" -}}
{{- (urlParse .Values.baseUrl).path | trimSuffix "/" -}}
{{- end -}}

{{- define "whence.isCluster" -}}
{{- if eq .Values.profile "cluster" }}true{{ end -}}
{{- end -}}

{{- define "whence.hasDashboard" -}}
{{- if and (include "whence.isCluster" .) .Values.dashboard.enabled }}true{{ end -}}
{{- end -}}

{{- /* Namespaces whose custom resources the operator reads, as a YAML list; empty if it reads all. */ -}}
{{- define "whence.namespaces" -}}
{{- if .Values.watch.allNamespaces -}}
[]
{{- else -}}
{{- default (list .Release.Namespace) .Values.watch.namespaces | uniq | toYaml -}}
{{- end -}}
{{- end -}}

{{- /* The delivery side: name of the component, role of the program, holder of credentials (if it has any), values, group and topics on Kafka that say how far behind it is: all that it takes work from (a test compares them), without those of retries, which wait on purpose. */ -}}
{{- define "whence.deliveryComponents" -}}
- { name: facts-writer, role: facts-writer, values: {{ .Values.factsWriter | toJson }}, group: facts-writer, topics: [visits, activations, handoffs, installs, install_decisions, requests, deliveries, activity, replays, webhook_attempts, spend, alerts], scales: true }
- { name: state, role: state, values: {{ .Values.state | toJson }}, group: state, topics: [activations], scales: false }
- { name: dispatch, role: dispatch, values: {{ .Values.dispatch | toJson }}, group: dispatch, topics: [installs], scales: true }
- { name: rollup, role: rollup, values: {{ .Values.rollup | toJson }}, group: '', topics: [], scales: false }
{{- if .Values.streams.enabled }}
- { name: streams, role: streams, holder: streams, values: {{ .Values.streams | toJson }}, group: '', topics: [], scales: false }
{{- end }}
- { name: webhooks, role: webhooks, holder: webhooks, values: {{ .Values.webhooks | toJson }}, group: webhooks, topics: [webhooks, installs, install_decisions, deliveries, activity, alerts], scales: true }
{{- range $id, $values := .Values.providers }}
{{- if $values.enabled }}
- name: {{ $id | replace "_" "-" }}
  role: {{ $id }}
  provider: {{ $id }}
  holder: {{ $id }}
  values: {{ merge (dict) $values (dict "resources" $.Values.providerResources) | toJson }}
  group: deliver.{{ $id }}
  topics: [deliver.{{ $id }}]
  scales: true
{{- end }}
{{- end }}
{{- end -}}

{{- /* Those that call addresses of tenants, as a JSON list. */ -}}
{{- define "whence.streamingComponents" -}}
{{- if include "whence.isCluster" . -}}
{{- ternary (list "streams") (list "none") .Values.streams.enabled | toJson -}}
{{- else -}}
["api"]
{{- end -}}
{{- end -}}

{{- /* Components that call the internet, as a JSON list. */ -}}
{{- define "whence.callingComponents" -}}
{{- $names := concat (include "whence.deliveringComponents" . | fromJsonArray) (include "whence.streamingComponents" . | fromJsonArray) -}}
{{- if include "whence.isCluster" . }}{{ $names = append $names "webhooks" }}{{ end -}}
{{- if include "whence.hasDashboard" . }}{{ $names = append $names "dashboard" }}{{ end -}}
{{- without ($names | uniq) "none" | toJson -}}
{{- end -}}

{{- /* Components that call providers: those that deliver, and the dashboard, which tries destinations and reads pages of websites. */ -}}
{{- define "whence.providerCallers" -}}
{{- $names := include "whence.deliveringComponents" . | fromJsonArray -}}
{{- if include "whence.hasDashboard" . }}{{ $names = append $names "dashboard" }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Components that send requests to providers, as a JSON list. */ -}}
{{- define "whence.deliveringComponents" -}}
{{- if include "whence.isCluster" . -}}
{{- $names := list -}}
{{- range include "whence.deliveryComponents" . | fromYamlArray }}{{ if hasKey . "provider" }}{{ $names = append $names .name }}{{ end }}{{ end -}}
{{- default (list "none") $names | toJson -}}
{{- else -}}
["api"]
{{- end -}}
{{- end -}}
