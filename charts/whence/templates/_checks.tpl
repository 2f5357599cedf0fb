{{- /*
  What a chart of an older version did not have is missing in the values that `helm upgrade --reuse-values` brings: each default of this version is filled
  in. Every template begins with it, as helm renders them in an order of its own.
*/ -}}
{{- define "whence.defaults" -}}
{{- include "whence.fillIn" (dict "into" .Values "from" (.Files.Get "files/defaults.yaml" | fromYaml)) -}}
{{- end -}}

{{- /* Arguments: into, from. A value that may be null says something by being absent. */ -}}
{{- define "whence.fillIn" -}}
{{- range $key, $value := .from -}}
{{- if not (hasKey $.into $key) -}}
{{- if ne $key "runAsUser" }}{{ $_ := set $.into $key $value }}{{ end -}}
{{- else if and (kindIs "map" $value) (kindIs "map" (index $.into $key)) -}}
{{- include "whence.fillIn" (dict "into" (index $.into $key) "from" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Faults of the values that a schema cannot express. Reported all at once, before anything runs. */ -}}

{{- define "whence.checkValues" -}}
{{- $problems := list -}}
{{- if not .Values.baseUrl }}{{ $problems = append $problems "baseUrl: the address under which websites and installers reach the service" }}{{ end -}}
{{- if and (include "whence.basePath" .) (or .Values.gateway.enabled .Values.ingress.enabled) }}{{ $problems = append $problems "baseUrl: without a path, which neither gateway nor ingress takes off; with one, a proxy of your own has to (docs/kubernetes.md)" }}{{ end -}}
{{- if include "whence.isCluster" . }}{{ $problems = concat $problems (include "whence.clusterProblems" . | fromYamlArray) }}{{ end -}}
{{- $problems = concat $problems (include "whence.peopleProblems" . | fromYamlArray) -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}{{ $problems = append $problems "ingress.hosts: the host names" }}{{ end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") }}{{ $problems = append $problems "service.externalTrafficPolicy: only with service.type LoadBalancer or NodePort" }}{{ end -}}
{{- if and .Values.networkPolicy.enabled .Values.metrics.serviceMonitor.enabled (not .Values.networkPolicy.metricsFrom) -}}
{{- $problems = append $problems "networkPolicy.metricsFrom: where Prometheus is, which metrics.serviceMonitor sends here, as in [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]" -}}
{{- end -}}
{{- if le (int .Values.pods.terminationGracePeriodSeconds) (add 25 .Values.pods.preStopSleepSeconds) -}}
{{- $problems = append $problems "pods.terminationGracePeriodSeconds: more than pods.preStopSleepSeconds and the 25 s that a program takes to end" -}}
{{- end -}}
{{- if and .Values.outboundProxy.existingSecret .Values.networkPolicy.enabled (not .Values.networkPolicy.outboundProxy.to) -}}
{{- $problems = append $problems "networkPolicy.outboundProxy.to: the place of the proxy that outboundProxy names (docs/kubernetes.md; networkPolicy.enabled=false for none)" -}}
{{- end -}}
{{- if $problems }}{{ fail (printf "\nThese values are missing or do not go together:\n  %s\n" (join "\n  " $problems)) }}{{ end -}}
{{- end -}}

{{- /* A YAML list of texts. */ -}}
{{- define "whence.peopleProblems" -}}
{{- $problems := list -}}
{{- if and .Values.mail.existingSecret (not .Values.mail.from) }}{{ $problems = append $problems "mail.from: the sender of mails, as in whence@acme.dev" }}{{ end -}}
{{- if and .Values.billing.existingSecret (not .Values.billing.prices) }}{{ $problems = append $problems "billing.prices: plans and their prices at Stripe, as in Standard=price_1AbC" }}{{ end -}}
{{- if and .Values.mail.support (not .Values.mail.existingSecret) }}{{ $problems = append $problems "mail.existingSecret: the Secret with the mail server's address, which mail.support needs" }}{{ end -}}
{{- if .Values.oidc.issuer -}}
{{- if not .Values.oidc.clientId }}{{ $problems = append $problems "oidc.clientId: what the identity provider calls this installation" }}{{ end -}}
{{- if not .Values.oidc.existingSecret }}{{ $problems = append $problems "oidc.existingSecret: the Secret that holds the client secret" }}{{ end -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- range $name := include "whence.dashboardReaches" . | fromJsonArray -}}
{{- if not (index $.Values.networkPolicy $name).to }}{{ $problems = append $problems (printf "networkPolicy.%s.to: the place of the %s (docs/kubernetes.md; networkPolicy.enabled=false for none)" $name (get (dict "mail" "mail server" "identityProvider" "identity provider" "payments" "payment provider, Stripe") $name)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $problems -}}
{{- end -}}

{{- /* A YAML list of texts. */ -}}
{{- define "whence.clusterProblems" -}}
{{- $problems := list -}}
{{- range $name := list "secret" "eventLog" "hotState" "facts" -}}
{{- if not (index $.Values $name).existingSecret }}{{ $problems = append $problems (printf "%s.existingSecret: the Secret that holds it (docs/kubernetes.md)" $name) }}{{ end -}}
{{- end -}}
{{- if and .Values.keda.enabled (not .Values.keda.bootstrapServers) }}{{ $problems = append $problems "keda.bootstrapServers: the brokers that KEDA asks for the lag" }}{{ end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) }}{{ $problems = append $problems "gateway.parentRefs: the Gateways that the route belongs to" }}{{ end -}}
{{- with .Values.api -}}
{{- if and .spool.enabled .autoscaling.enabled }}{{ $problems = append $problems "api.autoscaling.enabled=false: a pod that goes takes its spool along, so nothing may scale api.spool away" }}{{ end -}}
{{- if and .autoscaling.enabled (gt (int .autoscaling.minReplicas) (int .autoscaling.maxReplicas)) }}{{ $problems = append $problems "api.autoscaling.minReplicas: at most api.autoscaling.maxReplicas" }}{{ end -}}
{{- /* The bytes that may wait, the free space that the service keeps, and a tenth for the file system. */ -}}
{{- $need := mulf 1.1 (mulf 1000000.0 (add 256 .spool.megabytes)) -}}
{{- if and .spool.enabled (lt (include "whence.bytes" .spool.size | float64) $need) -}}
{{- $problems = append $problems (printf "api.spool.size: %s cannot hold %d MB, for which it takes %.0fM at least" .spool.size (int .spool.megabytes) (divf $need 1000000.0)) -}}
{{- end -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- range $name, $hint := dict "kubernetes" "the API server, as in [{ipBlock: {cidr: 10.0.0.1/32}}]; kubectl get endpointslices -n default -l kubernetes.io/service-name=kubernetes shows its addresses" "kafka" "Kafka, as in [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kafka}}}]" "redis" "Redis" "clickhouse" "ClickHouse" -}}
{{- if not (index $.Values.networkPolicy $name).to }}{{ $problems = append $problems (printf "networkPolicy.%s.to: the place of %s (docs/kubernetes.md; networkPolicy.enabled=false for none)" $name $hint) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $missing := include "whence.missingNamespaces" . | fromYamlArray -}}
{{- if $missing }}{{ $problems = append $problems (printf "watch.namespaces: there is no namespace %s; make it first, for the rights in it are part of this release" (join ", " $missing)) }}{{ end -}}
{{- toYaml $problems -}}
{{- end -}}

{{- /* A quantity of Kubernetes, as `2Gi`, in bytes. */ -}}
{{- define "whence.bytes" -}}
{{- $units := dict "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) (index $units (regexFind "[A-Za-z]+$" .)) -}}
{{- end -}}

{{- /* Missing watched namespaces, as a YAML list; empty if helm has no access to the cluster, as in `helm template`. */ -}}
{{- define "whence.missingNamespaces" -}}
{{- $wanted := include "whence.namespaces" . | fromYamlArray -}}
{{- $missing := list -}}
{{- $isAsked := false -}}
{{- if ne (toJson $wanted) (toJson (list .Release.Namespace)) -}}
{{- range $name := append $wanted .Release.Namespace | uniq -}}
{{- if lookup "v1" "Namespace" "" $name }}{{ $isAsked = true }}{{ else if has $name $wanted }}{{ $missing = append $missing $name }}{{ end -}}
{{- end -}}
{{- end -}}
{{- ternary $missing (list) $isAsked | toYaml -}}
{{- end -}}
