/** One install whose visit every provider knows by something else: what the golden requests of all providers are made of. */

import type { Destination } from '../../../domain/catalog.ts'
import type { Visit } from '../../../domain/collection/visit-fields.ts'
import type { Identities, Install } from '../../../domain/model.ts'
import type { Job } from '../../../domain/records.ts'
import { CLIENT_ID, destinationOf, HOUR_MS, MEASUREMENT_ID, MINUTE_MS, NOON_MS, visitOf } from './builders.ts'
import { jobOf } from './jobs.ts'

/** The visitor clicked a minute before landing: two hours and two minutes before noon. */
export const CLICKED_AT_MS = NOON_MS - 2 * HOUR_MS - 2 * MINUTE_MS

export const IDENTITIES = {
  ga4: { [MEASUREMENT_ID]: { client_id: CLIENT_ID, session_id: '1795168500' } },
  google_ads: {
    gclid: 'Cj0canary-gclid',
    wbraid: 'canary-wbraid',
    gbraid: 'canary-gbraid',
    gcl_aw: `GCL.${CLICKED_AT_MS / 1_000}.Cj0canary-gclid`,
    session_attributes: 'eyJnYWRfc291cmNlIjoiMSJ9',
  },
  meta: {
    fbp: `fb.1.${NOON_MS - 30 * HOUR_MS}.271828182845`,
    fbc: `fb.1.${CLICKED_AT_MS}.canary-fbclid`,
    fbclid: 'canary-fbclid',
  },
  tiktok: { ttp: 'canary-ttp', ttclid: 'E.C.P.canary-ttclid', ttclid_at: CLICKED_AT_MS },
  x: { twclid: 'canarytwclid', twclid_at: CLICKED_AT_MS },
  custom: { crm: { id: 'canary-custom' } },
} as const satisfies Identities

export const AD_DESTINATIONS = {
  meta: destinationOf({
    id: 'acme-meta',
    provider: 'meta',
    settings: { pixelId: '123456789012345', eventName: 'CLIInstall' },
  }),
  tiktok: destinationOf({
    id: 'acme-tiktok',
    provider: 'tiktok',
    settings: { pixelCode: 'C4PIXELCODE', eventName: 'Download' },
  }),
  x: destinationOf({ id: 'acme-x', provider: 'x', settings: { pixelId: 'o8z6j', eventId: 'tw-o8z6j-o87ne' } }),
  google_ads: destinationOf({
    id: 'acme-google',
    provider: 'google_ads',
    settings: { customerId: '1234567890', conversionActionId: '987654321' },
  }),
} as const satisfies Record<string, Destination>

export interface AdJobOverrides {
  readonly identities?: Identities
  readonly visit?: Partial<Visit>
  readonly install?: Partial<Install>
}

/** As dispatch makes it: with the identifiers of the destination's own provider alone. */
export function adJob(destination: Destination, { identities, visit, install }: AdJobOverrides = {}): Job {
  const whole = visitOf({ identities: identities ?? IDENTITIES, ...visit })
  return jobOf({ destination, visit: whole, ...(install === undefined ? {} : { install }) })
}

/** As no job should be: with everybody's identifiers, so that the builder alone has to keep them apart. */
export function leakyJob(destination: Destination, overrides: AdJobOverrides = {}): Job {
  const job = adJob(destination, overrides)
  return { ...job, visit: { ...job.visit, identities: overrides.identities ?? IDENTITIES } }
}
