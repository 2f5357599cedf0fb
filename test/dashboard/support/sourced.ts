/** Visits of one website with a source and a campaign, and the installs that they led to. */

import { MINUTE_MS } from '../../../domain/durations.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { installRecord, visitRecord } from '../../contract/fact-samples.ts'
import { SECRET } from './stage.ts'

const KEY_ID = createKeyring([SECRET]).currentKeyId
export const OF = { website: 'acme-site', organization: 'acme' }

let serial = 0

interface Happened {
  readonly atMs: number
  readonly source?: string
  readonly campaign?: string
  readonly installs?: number
  readonly version?: string
}

/** A visit, and the installs that it led to. */
export function visitOf({ atMs, source = '', campaign = '', installs = 0, version = '1.0.0' }: Happened) {
  const visitId = `${KEY_ID.toString(16).padStart(2, '0')}${atMs.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
  const outcome = { resolution: 'matched', selectionPolicy: 'handoff', visitId, visitIssuedAtMs: atMs } as const
  return [
    visitRecord({ ...OF, visitId, issuedAtMs: atMs, utm: { source, campaign } }),
    ...Array.from({ length: installs }, (_, place) =>
      installRecord({
        ...OF,
        ...outcome,
        receivedAtMs: atMs + (place + 1) * MINUTE_MS,
        installationId: `machine-${serial}-${place}`,
        productVersion: version,
      }),
    ),
  ]
}

export function unmatchedAt(receivedAtMs: number, productVersion = '1.0.0') {
  return installRecord({ ...OF, receivedAtMs, installationId: `machine-${serial++}`, productVersion })
}
