{{- /* Allowed connections. A test compares the rules of each component with this list. */ -}}

{{- /* Components by destination, as YAML. The migration has its own policy. */ -}}
{{- define "whence.reaches" -}}
{{- $providers := list -}}
{{- range include "whence.deliveryComponents" . | fromYamlArray }}{{ if hasKey . "provider" }}{{ $providers = append $providers .name }}{{ end }}{{ end -}}
kafka: {{ concat (list "api" "facts-writer" "state" "dispatch") $providers | toJson }}
redis: {{ concat (list "api" "state") $providers | toJson }}
clickhouse: {{ concat (list "api" "facts-writer" "state" "dispatch") (ternary (list "operator") (list) .Values.operator.traffic) | toJson }}
kubernetes: {{ concat (list "operator" "api" "dispatch") $providers | toJson }}
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
