{{- /* Rights, in one place: a test holds them against what the programs are seen to use. */ -}}

{{- define "whence.resourceRules" -}}
- apiGroups: [whence.dev]
  resources: [organizations, websites, installpaths, destinations, logstreams]
  verbs: [list, watch]
- apiGroups: [whence.dev]
  resources: [organizations/status, websites/status, installpaths/status, destinations/status, logstreams/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end -}}

{{- define "whence.catalogWriteRules" -}}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [list, watch, create, patch, delete]
{{- /* Server-side apply names what it makes, so that even making these Secrets can be a right by name. */}}
- apiGroups: ['']
  resources: [secrets]
  resourceNames: {{ include "whence.providerSecrets" . }}
  verbs: [list, watch, create, patch]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "whence.fullname" . }}]
  verbs: [get, update]
{{- end -}}

{{- define "whence.catalogReadRules" -}}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [list, watch]
{{- end -}}

{{- /* Arguments: root, provider as in names of components. */ -}}
{{- define "whence.providerSecret" -}}
{{ include "whence.fullname" .root }}-{{ .provider }}
{{- end -}}

{{- define "whence.providerSecrets" -}}
{{- $names := list -}}
{{- range $provider := list "ga4" "google-ads" "meta" "tiktok" "x" }}
{{- $names = append $names (include "whence.providerSecret" (dict "root" $ "provider" $provider)) }}
{{- end -}}
{{- toJson $names -}}
{{- end -}}
