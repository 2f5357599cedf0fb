/** The manifests of the load: many websites, so that the limits per website are far away. */

/** The origin that every website registers. */
export const LOAD_ORIGIN = 'https://load.example'
export const LOAD_MEASUREMENT_ID = 'G-LOAD000001'
export const LOAD_WEBSITES = Array.from({ length: 8 }, (_, index) => `site-${index}`)

/** An organisation without tight limits, and its websites with one live GA4 destination each. */
export const LOAD_MANIFESTS = `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: load }
spec: { displayName: Load, plan: Enterprise }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: load-cli }
spec: { organizationRef: { name: load }, displayName: CLI }
---
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { ga4: secret-of-the-ga4-stream }
${LOAD_WEBSITES.map(
  (name) => `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${name} }
spec: { organizationRef: { name: load }, displayName: ${name}, primaryOrigin: '${LOAD_ORIGIN}', providers: [ga4] }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name}-ga4 }
spec:
  websiteRef: { name: ${name} }
  displayName: GA4
  provider: ga4
  mode: Live
  ga4: { measurementId: ${LOAD_MEASUREMENT_ID}, apiSecretRef: { name: keys, key: ga4 } }
`,
).join('')}`
