/** The custom resources of chaos runs: websites with two providers each. */

import { loadManifests } from '../../fixtures/service/load-manifests.ts'

export const CHAOS_ORGANIZATION = 'chaos'
export const CHAOS_ORIGIN = 'https://chaos.example'
export const CHAOS_WEBSITES = ['site-0', 'site-1', 'site-2', 'site-3', 'site-4', 'site-5', 'site-6', 'site-7'] as const
export const CHAOS_MEASUREMENT_ID = 'G-CHAOS00001'
export const CHAOS_PATH = 'chaos-cli'
/** Provider secrets that must never be seen again. */
export const CHAOS_SECRETS = {
  ga4: 'secret-canary-of-the-ga4-stream',
  meta: 'secret-canary-of-the-meta-pixel',
} as const

export const CHAOS_MANIFESTS = loadManifests({
  organization: CHAOS_ORGANIZATION,
  installPath: CHAOS_PATH,
  origin: CHAOS_ORIGIN,
  websites: CHAOS_WEBSITES,
  measurementId: CHAOS_MEASUREMENT_ID,
  secrets: CHAOS_SECRETS,
})
