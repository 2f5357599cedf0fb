/** The custom resources of chaos runs: many websites, so that the limits per website are far away, each with two providers. */

export const CHAOS_ORIGIN = 'https://chaos.example'
export const CHAOS_WEBSITES = ['site-0', 'site-1', 'site-2', 'site-3', 'site-4', 'site-5', 'site-6', 'site-7'] as const
export const CHAOS_MEASUREMENT_ID = 'G-CHAOS00001'
export const CHAOS_PATH = 'chaos-cli'
/** Provider secrets that must never be seen again. */
export const CHAOS_SECRETS = {
  ga4: 'secret-canary-of-the-ga4-stream',
  meta: 'secret-canary-of-the-meta-pixel',
} as const

export const CHAOS_MANIFESTS = `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: chaos }
spec: { displayName: Chaos, plan: Enterprise }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: ${CHAOS_PATH} }
spec: { organizationRef: { name: chaos }, displayName: CLI }
---
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { ga4: ${CHAOS_SECRETS.ga4}, meta: ${CHAOS_SECRETS.meta} }
${CHAOS_WEBSITES.map(
  (name) => `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${name} }
spec: { organizationRef: { name: chaos }, displayName: ${name}, primaryOrigin: '${CHAOS_ORIGIN}', providers: [ga4, meta] }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name}-ga4 }
spec:
  websiteRef: { name: ${name} }
  displayName: GA4
  provider: ga4
  mode: Live
  ga4: { measurementId: ${CHAOS_MEASUREMENT_ID}, apiSecretRef: { name: keys, key: ga4 } }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name}-meta }
spec:
  websiteRef: { name: ${name} }
  displayName: Meta
  provider: meta
  mode: Live
  meta: { pixelId: '1234567890', accessTokenRef: { name: keys, key: meta } }
`,
).join('')}`
