{{- /* Allowed connections. A test compares the rules of each component with this list. */ -}}

{{- /* Components by destination, as YAML: pods get the addresses of what they reach, too. The migration has its own policy. */ -}}
{{- define "whence.reaches" -}}
{{- $providers := list -}}
{{- range include "whence.deliveryComponents" . | fromYamlArray }}{{ if hasKey . "provider" }}{{ $providers = append $providers .name }}{{ end }}{{ end -}}
{{- $streams := ternary (list "streams") (list) .Values.streams.enabled -}}
{{- $senders := append (concat $streams $providers) "webhooks" -}}
{{- $dashboard := ternary (list "dashboard") (list) (eq (include "whence.hasDashboard" .) "true") }}
kafka: {{ concat (list "api" "facts-writer" "state" "dispatch" "rollup") $senders $dashboard (ternary (list "operator") (list) .Values.operator.audit) | toJson }}
redis: {{ concat (list "api" "state" "dispatch") $senders $dashboard | toJson }}
clickhouse: {{ concat (list "api" "facts-writer" "state" "dispatch" "rollup" "webhooks") $streams $dashboard (ternary (list "operator") (list) .Values.operator.traffic) | toJson }}
kubernetes: {{ concat (list "operator" "api" "dispatch" "rollup") $senders $dashboard | toJson }}
{{- end -}}

{{- /* What the pods with the dashboard reach of their own, as a YAML list of names among the values. */ -}}
{{- define "whence.dashboardReaches" -}}
{{- $places := list -}}
{{- if .Values.mail.existingSecret }}{{ $places = append $places "mail" }}{{ end -}}
{{- if .Values.oidc.issuer }}{{ $places = append $places "identityProvider" }}{{ end -}}
{{- if .Values.billing.existingSecret }}{{ $places = append $places "payments" }}{{ end -}}
{{- if and (include "whence.isCluster" .) (not (include "whence.hasDashboard" .)) }}{{ $places = list }}{{ end -}}
{{- toJson $places -}}
{{- end -}}

{{- /* Paths of the dashboard on the host that it shares with the api; `/api/limits` is the api's. A test compares them with the program. */ -}}
{{- define "whence.dashboardPaths" -}}
exact: [/, /sign-in, /sign-in.css, /sign-in.js, /v1/figures, /v1/installs]
prefixes: [/api, /app, /assets, /share]
{{- end -}}

{{- /* One rule. Arguments: ports; to: peers, never none, which would mean anywhere. */ -}}
{{- define "whence.egressRule" -}}
- ports:
    {{- range .ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  to:
    {{- toYaml .to | nindent 4 }}
{{- end -}}

{{- /* The internet without private networks, as a YAML list of peers. */ -}}
{{- define "whence.internet" -}}
{{- range $cidr, $isOfFamily := dict "0.0.0.0/0" "^[^:]+$" "2000::/3" ":" }}
{{- $except := list }}
{{- range $.Values.networkPolicy.providersExcept }}{{ if regexMatch $isOfFamily . }}{{ $except = append $except . }}{{ end }}{{ end }}
{{- $block := dict "cidr" $cidr }}
{{- with $except }}{{ $_ := set $block "except" . }}{{ end }}
- ipBlock:
    {{- toYaml $block | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "whence.dnsRule" -}}
{{- with .Values.networkPolicy.dns -}}
- ports:
    {{- range .ports }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  to:
    {{- toYaml .to | nindent 4 }}
{{- end -}}
{{- end -}}
