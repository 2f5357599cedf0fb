{{- /* What `helm test` needs: an organisation, a website and a path of its own. */ -}}

{{- define "whence.testId" -}}
{{ include "whence.fullname" . }}-test
{{- end -}}

{{- define "whence.testNamespace" -}}
{{- if .Values.test.namespace -}}
{{ .Values.test.namespace }}
{{- else -}}
{{- $namespaces := include "whence.namespaces" . | fromYamlArray -}}
{{- if or (not $namespaces) (has .Release.Namespace $namespaces) -}}
{{ .Release.Namespace }}
{{- else -}}
{{ first $namespaces }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "whence.testResources" -}}
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata:
  name: {{ include "whence.testId" . }}
spec:
  displayName: Test of the installation
  plan: Standard
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata:
  name: {{ include "whence.testId" . }}
spec:
  organizationRef: { name: {{ include "whence.testId" . }} }
  displayName: Test of the installation
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata:
  name: {{ include "whence.testId" . }}
spec:
  organizationRef: { name: {{ include "whence.testId" . }} }
  displayName: Test of the installation
  primaryOrigin: https://{{ include "whence.testId" . }}.invalid
{{- end -}}
