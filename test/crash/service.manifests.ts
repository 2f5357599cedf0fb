/** The manifests of the load: websites with one live GA4 destination each. */

import { loadManifests } from '../../fixtures/service/load-manifests.ts'

/** The origin that every website registers. */
export const LOAD_ORIGIN = 'https://load.example'
export const LOAD_ORGANIZATION = 'load'
export const LOAD_MEASUREMENT_ID = 'G-LOAD000001'
export const LOAD_WEBSITES = Array.from({ length: 8 }, (_, index) => `site-${index}`)

export const LOAD_MANIFESTS = loadManifests({
  organization: LOAD_ORGANIZATION,
  installPath: 'load-cli',
  origin: LOAD_ORIGIN,
  websites: LOAD_WEBSITES,
  measurementId: LOAD_MEASUREMENT_ID,
  secrets: { ga4: 'secret-of-the-ga4-stream' },
})
