{{- /* Pods: their common parts, and the settings of each. */ -}}

{{- /* Values `pods` with those of the component's own `pod`: maps are merged, lists replaced. Arguments: root; own: the component's values. */ -}}
{{- define "whence.podValues" -}}
{{- mergeOverwrite (deepCopy .root.Values.pods) (deepCopy (default (dict) .own.pod)) | toJson -}}
{{- end -}}

{{- /* Without a user (`pods.runAsUser: null`) the cluster gives one, as OpenShift does by namespace. */ -}}
{{- define "whence.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.pods.runAsUser }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "whence.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* Placement and termination of pods. Arguments: root, own, component; `revision` is the label that distinguishes the pods of versions. */ -}}
{{- define "whence.placement" -}}
{{- $root := .root -}}
{{- $pods := include "whence.podValues" . | fromJson -}}
{{- $selector := printf "%s\napp.kubernetes.io/component: %s" (include "whence.selector" $root) .component | fromYaml -}}
terminationGracePeriodSeconds: {{ $pods.terminationGracePeriodSeconds }}
enableServiceLinks: false
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $pods.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range $pods.topologySpreadConstraints }}
  - {{- merge (dict) . (dict "labelSelector" (dict "matchLabels" $selector)) | toYaml | nindent 4 }}
  {{- end }}
{{- else if and $pods.topologySpread .revision }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [{{ $.revision }}]
    labelSelector:
      matchLabels:
        {{- toYaml $selector | nindent 8 }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "whence.podSecurity" $root | nindent 2 }}
{{- end -}}

{{- /* Labels and annotations of a pod; those that select it win. Arguments: root, own, component. */ -}}
{{- define "whence.podMetadata" -}}
{{- $pods := include "whence.podValues" . | fromJson -}}
{{- $fixed := printf "%s\napp.kubernetes.io/part-of: whence\napp.kubernetes.io/component: %s\napp.kubernetes.io/version: %q" (include "whence.selector" .root) .component .root.Chart.AppVersion | fromYaml -}}
labels:
  {{- mergeOverwrite (dict) (default (dict) .root.Values.commonLabels) (default (dict) $pods.labels) $fixed | toYaml | nindent 2 }}
{{- with mergeOverwrite (dict) (default (dict) .root.Values.commonAnnotations) (default (dict) $pods.annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Containers beside our own. Arguments: root, own. */ -}}
{{- define "whence.extraContainers" -}}
{{- with (include "whence.podValues" . | fromJson).extraContainers }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* A list of a pod under its name, with the team's own entries; nothing if it is empty. Arguments: root, own, key, items: texts of YAML lists, extra: the value. */ -}}
{{- define "whence.listOf" -}}
{{- $extra := get (include "whence.podValues" . | fromJson) .extra -}}
{{- $all := list -}}
{{- range .items }}{{ $all = concat $all (. | fromYamlArray) }}{{ end -}}
{{- with concat $all (default (list) $extra) -}}
{{ $.key }}:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- define "whence.logEnv" -}}
- { name: WHENCE_LOG_LEVEL, value: {{ .Values.log.level | quote }} }
- { name: WHENCE_LOG_FORMAT, value: {{ .Values.log.format | quote }} }
{{- end -}}

{{- /* Argument: the options. */ -}}
{{- define "whence.nodeEnv" -}}
{{- with . }}
- { name: NODE_OPTIONS, value: {{ . | quote }} }
{{- end }}
{{- end -}}

{{- define "whence.metricsEnv" -}}
- { name: WHENCE_METRICS_LISTEN, value: '0.0.0.0:9090' }
{{- end -}}

{{- /* Addresses, with their passwords, of the engines that this component may reach, and of no other. Arguments: root, component. */ -}}
{{- define "whence.engineEnv" -}}
{{- $reaches := include "whence.reaches" .root | fromYaml -}}
{{- range $place, $env := dict "kafka" "whence.eventLogEnv" "redis" "whence.hotStateEnv" "clickhouse" "whence.factsEnv" }}
{{- if has $.component (get $reaches $place) }}
{{ include $env $.root }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "whence.eventLogEnv" -}}
- name: WHENCE_EVENT_LOG
  valueFrom: { secretKeyRef: { name: {{ .Values.eventLog.existingSecret }}, key: {{ .Values.eventLog.key }} } }
{{- end -}}

{{- define "whence.factsEnv" -}}
- name: WHENCE_FACTS
  valueFrom: { secretKeyRef: { name: {{ .Values.facts.existingSecret }}, key: {{ .Values.facts.key }} } }
{{- end -}}

{{- define "whence.hotStateEnv" -}}
- name: WHENCE_HOT_STATE
  valueFrom: { secretKeyRef: { name: {{ .Values.hotState.existingSecret }}, key: {{ .Values.hotState.key }} } }
{{- end -}}

{{- define "whence.kubeEnv" -}}
- { name: WHENCE_CATALOG, value: 'kubernetes:{{ .Release.Namespace }}/{{ include "whence.fullname" . }}' }
{{ include "whence.tokenEnv" . }}
{{- end -}}

{{- define "whence.tokenEnv" -}}
- { name: WHENCE_KUBE_TOKEN_FILE, value: /var/run/secrets/whence/token }
- { name: WHENCE_KUBE_CA_FILE, value: /var/run/secrets/whence/ca.crt }
{{- end -}}

{{- /* Whose objects it reads, and where. */ -}}
{{- define "whence.installationEnv" -}}
- { name: WHENCE_INSTALLATION, value: {{ .Release.Name | trunc 63 | trimSuffix "-" | quote }} }
{{- if not .Values.watch.allNamespaces }}
- { name: WHENCE_WATCH_NAMESPACES, value: {{ include "whence.namespaces" . | fromYamlArray | join "," | quote }} }
{{- end }}
{{- end -}}

{{- define "whence.listenEnv" -}}
- { name: WHENCE_LISTEN, value: '0.0.0.0:8080' }
- { name: WHENCE_BASE_URL, value: {{ .Values.baseUrl | quote }} }
- { name: WHENCE_BRAND, value: {{ .Values.brand | quote }} }
{{- with .Values.trustProxy }}
- { name: WHENCE_TRUST_PROXY, value: {{ join "," . | quote }} }
{{- end }}
- { name: WHENCE_CONNECTIONS_PER_ADDRESS, value: {{ int .Values.connectionsPerAddress | quote }} }
{{- end -}}

{{- define "whence.servingEnv" -}}
{{ include "whence.listenEnv" . }}
{{- with .Values.prices }}
- { name: WHENCE_PRICES, value: {{ toJson . | quote }} }
{{- end }}
{{- end -}}

{{- /* How people sign in, and how mail goes out. */ -}}
{{- define "whence.peopleEnv" -}}
- { name: WHENCE_SIGN_UP, value: {{ .Values.signUp }} }
{{- with .Values.defaultPlan }}
- { name: WHENCE_DEFAULT_PLAN, value: {{ . }} }
{{- end }}
{{- with .Values.mail }}
{{- if .existingSecret }}
- name: WHENCE_SMTP_URL
  valueFrom: { secretKeyRef: { name: {{ .existingSecret }}, key: {{ .key }} } }
- { name: WHENCE_MAIL_FROM, value: {{ .from | quote }} }
{{- with .support }}
- { name: WHENCE_SUPPORT_MAIL, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.oidc }}
{{- if .issuer }}
- { name: WHENCE_OIDC_ISSUER, value: {{ .issuer | quote }} }
- { name: WHENCE_OIDC_CLIENT_ID, value: {{ .clientId | quote }} }
- { name: WHENCE_OIDC_CLIENT_SECRET_FILE, value: /etc/whence/oidc/client-secret }
{{- with .trustDomains }}
- { name: WHENCE_OIDC_TRUST_DOMAINS, value: {{ join "," . | quote }} }
{{- end }}
{{- with .scopes }}
- { name: WHENCE_OIDC_SCOPES, value: {{ join " " . | quote }} }
{{- end }}
{{- with .groupsClaim }}
- { name: WHENCE_OIDC_GROUPS_CLAIM, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "whence.billingEnv" -}}
{{- with .Values.billing }}
{{- if .existingSecret }}
- { name: WHENCE_STRIPE_SECRET_FILE, value: /etc/whence/billing/secret-key }
- { name: WHENCE_STRIPE_WEBHOOK_SECRET_FILE, value: /etc/whence/billing/webhook-secret }
- { name: WHENCE_STRIPE_PRICES, value: {{ .prices | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "whence.billingVolume" -}}
{{- if .Values.billing.existingSecret }}
- name: billing
  secret:
    secretName: {{ .Values.billing.existingSecret }}
    defaultMode: 0440
    items: [{ key: {{ .Values.billing.key }}, path: secret-key }, { key: {{ .Values.billing.webhookKey }}, path: webhook-secret }]
{{- end }}
{{- end -}}

{{- define "whence.billingMount" -}}
{{- if .Values.billing.existingSecret }}
- { name: billing, mountPath: /etc/whence/billing, readOnly: true }
{{- end }}
{{- end -}}

{{- define "whence.oidcVolume" -}}
{{- if .Values.oidc.issuer }}
- name: oidc
  secret:
    secretName: {{ .Values.oidc.existingSecret }}
    defaultMode: 0440
    items: [{ key: {{ .Values.oidc.key }}, path: client-secret }]
{{- end }}
{{- end -}}

{{- define "whence.oidcMount" -}}
{{- if .Values.oidc.issuer }}
- { name: oidc, mountPath: /etc/whence/oidc, readOnly: true }
{{- end }}
{{- end -}}

{{- define "whence.secretEnv" -}}
- { name: WHENCE_SECRET_FILE, value: /etc/whence/secret/secret }
{{- end -}}

{{- /* Ports of the stand-ins by what they stand in for, as `whencectl stand-ins` gives them: in alphabetical order. */ -}}
{{- define "whence.firstStandInPort" -}}
8090
{{- end -}}

{{- define "whence.standInPorts" -}}
{{- $ports := dict -}}
{{- range $number, $id := keys .Values.providerUrls | sortAlpha }}
{{- $_ := set $ports $id (add (include "whence.firstStandInPort" $ | int) $number) }}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{- /* Empty without stand-ins. Arguments: root, id. */ -}}
{{- define "whence.standInUrl" -}}
{{- if .root.Values.standIns.enabled -}}
http://{{ include "whence.fullname" .root }}-stand-ins.{{ .root.Release.Namespace }}:{{ index (include "whence.standInPorts" .root | fromJson) .id }}
{{- end -}}
{{- end -}}

{{- define "whence.providerEnv" -}}
{{- range $id, $url := .Values.providerUrls }}
{{- with default (include "whence.standInUrl" (dict "root" $ "id" $id)) $url }}
- { name: WHENCE_{{ upper $id }}_URL, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- /* Of every pod that calls the internet. Empty without a proxy. */ -}}
{{- define "whence.proxyEnv" -}}
{{- with .Values.outboundProxy }}
{{- if .existingSecret }}
- name: HTTPS_PROXY
  valueFrom: { secretKeyRef: { name: {{ .existingSecret }}, key: {{ .key }} } }
- { name: NO_PROXY, value: {{ .noProxy | quote }} }
- { name: WHENCE_PROXY_NAMES, value: {{ .names }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "whence.streamEnv" -}}
{{- with .Values.streams.allow }}
- { name: WHENCE_STREAM_ALLOW, value: {{ join "," . | quote }} }
{{- end }}
{{- end -}}

{{- /* Arguments: root, own. */ -}}
{{- define "whence.extraEnv" -}}
{{- with (include "whence.podValues" . | fromJson).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* A token with its own lifetime and only the audience it needs; the default token is disabled. */ -}}
{{- define "whence.tokenVolume" -}}
- name: kubernetes
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: { path: token, expirationSeconds: 3600 }
      - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
{{- end -}}

{{- define "whence.tokenMount" -}}
- { name: kubernetes, mountPath: /var/run/secrets/whence, readOnly: true }
{{- end -}}

{{- define "whence.secretVolume" -}}
- name: secret
  secret:
    secretName: {{ .Values.secret.existingSecret }}
    defaultMode: 0440
    items: [{ key: {{ .Values.secret.key }}, path: secret }]
{{- end -}}

{{- define "whence.secretMount" -}}
- { name: secret, mountPath: /etc/whence/secret, readOnly: true }
{{- end -}}

{{- /* Certificate files that the engines' addresses refer to, as in `ca=/etc/whence/engines/ca.crt`. */ -}}
{{- define "whence.engineVolume" -}}
{{- with .Values.engineFiles.existingSecret }}
- name: engines
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- end -}}

{{- define "whence.engineMount" -}}
{{- if .Values.engineFiles.existingSecret }}
- { name: engines, mountPath: /etc/whence/engines, readOnly: true }
{{- end }}
{{- end -}}

{{- /* The last good catalog, so that a container starts without the API server. */ -}}
{{- define "whence.dataVolume" -}}
- name: data
  emptyDir: { sizeLimit: 256Mi }
{{- end -}}

{{- define "whence.dataMount" -}}
- { name: data, mountPath: /var/lib/whence }
{{- end -}}

{{- define "whence.dataEnv" -}}
- { name: WHENCE_DATA, value: /var/lib/whence }
{{- end -}}

{{- /* Endpoints drop a pod a moment after its termination begins. Meanwhile its answers end their connections: SIGUSR2 says so to the program, which is the
       container's first process. Not by a shell, which an image need not have, and not by a port, which others could ask. Argument: the root. */ -}}
{{- define "whence.preStop" -}}
{{- if gt (int .Values.pods.preStopSleepSeconds) 0 }}
lifecycle:
  preStop:
    exec:
      command: [node, -e, {{ printf "process.kill(1, 'SIGUSR2'); setTimeout(() => {}, %d)" (mul .Values.pods.preStopSleepSeconds 1000) | quote }}]
{{- end }}
{{- end -}}

{{- /* Roles without an HTTP interface of their own answer on the port of their metrics. */ -}}
{{- define "whence.metricsProbes" -}}
startupProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /ready, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- /* The operator is ready once it has read everything that its decisions depend on. */ -}}
{{- define "whence.operatorProbes" -}}
startupProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /ready, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- define "whence.healthProbes" -}}
startupProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /ready, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: { path: /live, port: metrics }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- /*
Number of pods. If something else scales them, the present number: without one helm would remove the previous number, and the API
server would set it to 1. Arguments: root, name, wanted, isScaled.
*/ -}}
{{- define "whence.replicas" -}}
{{- if not .isScaled -}}
replicas: {{ .wanted }}
{{- else -}}
{{- with lookup "apps/v1" "Deployment" .root.Release.Namespace .name -}}
replicas: {{ .spec.replicas }}
{{- end -}}
{{- end -}}
{{- end -}}
