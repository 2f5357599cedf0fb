{{- /* All rights: a test compares them with the requests that the programs make. */ -}}

{{- define "whence.resourceRules" -}}
- apiGroups: [whence.dev]
  resources: [organizations, websites, installpaths, destinations, logstreams, webhooks, members, apikeys, sharelinks]
  verbs: [list, watch]
- apiGroups: [whence.dev]
  resources: [organizations/status, websites/status, installpaths/status, destinations/status, logstreams/status, webhooks/status, members/status, apikeys/status, sharelinks/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, list, watch]
{{- if include "whence.hasAdmissionPolicies" . }}
{{- /* Only of those that the dashboard made: admission-policies.yaml refuses all others. */}}
- apiGroups: ['']
  resources: [secrets]
  verbs: [delete]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end -}}

{{- /* `create` alone of Secrets: patch, update and delete answer with the content. */ -}}
{{- define "whence.dashboardRules" -}}
- apiGroups: [whence.dev]
  resources: [organizations, websites, installpaths, destinations, logstreams, webhooks, members, apikeys, sharelinks]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [whence.dev]
  resources: [members/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [secrets]
  verbs: [create]
{{- end -}}

{{- define "whence.catalogWriteRules" -}}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get, list, watch, create, patch, delete]
{{- /* Server-side apply names its object, so that even creating these Secrets can be a right by name. */}}
- apiGroups: ['']
  resources: [secrets]
  resourceNames: {{ include "whence.holderSecrets" . }}
  verbs: [get, create, patch, delete]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "whence.fullname" . }}]
  verbs: [get, update]
{{- end -}}

{{- /* Of the dashboard: the index alone, which says how new the catalog is. */ -}}
{{- define "whence.catalogIndexRules" -}}
- apiGroups: ['']
  resources: [configmaps]
  resourceNames: [{{ include "whence.fullname" . }}-catalog]
  verbs: [get]
{{- end -}}

{{- define "whence.catalogReadRules" -}}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [list, watch]
{{- end -}}

{{- /* Without the dashboard there is nothing to hold to its type. */ -}}
{{- define "whence.hasAdmissionPolicies" -}}
{{- if and .Values.rbac.admissionPolicies (include "whence.hasDashboard" .) }}true{{ end -}}
{{- end -}}

{{- /* The Secrets with the credentials of a provider's worker, of streams or of webhooks, as a JSON list: two for each part. */ -}}
{{- /* Arguments: root, holder as in names of components. */ -}}
{{- define "whence.holderSecretsOf" -}}
{{- $first := printf "%s-%s" (include "whence.fullname" .root) .holder -}}
{{- $names := list -}}
{{- range $number := until (int .root.Values.operator.credentialSlots) }}
{{- $names = append $names (printf "%s-%d-a" $first $number) }}
{{- $names = append $names (printf "%s-%d-b" $first $number) }}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Those of all, also of roles that are switched off: their credentials have to go away. */ -}}
{{- define "whence.holderSecrets" -}}
{{- $names := list -}}
{{- range concat (keys .Values.providers | sortAlpha) (list "streams" "webhooks") }}
{{- $names = concat $names (include "whence.holderSecretsOf" (dict "root" $ "holder" (. | replace "_" "-")) | fromJsonArray) }}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Secrets in the release's namespace that no Destination may refer to, separated by commas; the operator's own have a label. */ -}}
{{- define "whence.ownSecrets" -}}
{{- $names := list -}}
{{- range $name := list "secret" "eventLog" "hotState" "facts" "engineFiles" "mail" "oidc" "billing" }}
{{- $names = append $names (index $.Values $name).existingSecret }}
{{- end -}}
{{- $names | compact | uniq | join "," -}}
{{- end -}}
