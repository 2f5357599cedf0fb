/** `whencectl key`: makes an API key. Its manifest goes to standard output, and the key itself, which is kept nowhere, to standard error. */

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { KEY_SCOPES, type KeyScope } from '../../domain/model.ts'
import { apiKeyText } from '../../domain/people/api-key.ts'
import { hashOfPass, PASS_BYTES } from '../../domain/people/pass.ts'
import { OBJECT_NAME_SCHEMA } from '../../domain/resources/envelope.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import { firstFinding } from '../../domain/schema/check-schema.ts'
import { createRandomness } from '../../runtime/random.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { complain, print } from '../terminal/output.ts'
import { momentOf } from './flags.ts'

/** Unless the flag says otherwise: a year, less what the clocks of others may differ. */
const FALLBACK_DAYS = 365

/** @throws Error for a flag that does not fit */
export async function keyTool(run: RunOutcome<'key'>): Promise<number> {
  const [name = ''] = run.positionals
  const nowMs = Date.now()
  const organization = run.flags.get('--organization') ?? ''
  if (!isName(organization)) throw new Error('--organization must be the name of an Organization')
  if (!isName(name)) throw new Error(`the name ${OBJECT_NAME_SCHEMA.patternMeaning ?? ''}`)
  const scopes = scopesIn(run.flags.get('--scopes'))
  const expiresAtMs = momentOf(run, '--expires', nowMs)
  if (expiresAtMs === null) return 1
  const endsAtMs = expiresAtMs ?? nowMs + FALLBACK_DAYS * DAY_MS
  if (endsAtMs <= nowMs || endsAtMs > nowMs + LIMITS.passDays * DAY_MS)
    throw new Error(`--expires must be ahead, by at most ${LIMITS.passDays} days`)
  const key = apiKeyText(createRandomness().bytes(PASS_BYTES))
  const expiresAt = `${new Date(endsAtMs).toISOString().slice(0, 19)}Z`
  print(keyManifest({ name, organization, scopes, expiresAt, keyHash: hashOfPass(key, sha256Hex) }))
  complain(`The key, which is shown this once: ${key}\n`)
  return 0
}

function isName(text: string): boolean {
  return firstFinding(OBJECT_NAME_SCHEMA, text) === null
}

function scopesIn(list: string | undefined): readonly KeyScope[] {
  const names = list === undefined ? KEY_SCOPES : list.split(',')
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope))
  if (scopes.length !== new Set(names).size) throw new Error(`--scopes must be a list of ${KEY_SCOPES.join(', ')}`)
  return scopes
}

interface WrittenKey {
  readonly name: string
  readonly organization: string
  readonly scopes: readonly KeyScope[]
  readonly expiresAt: string
  readonly keyHash: string
}

/** Every value is in the JSON form of a text, which is YAML, too. */
function keyManifest({ name, organization, scopes, expiresAt, keyHash }: WrittenKey): string {
  const text = JSON.stringify
  return `apiVersion: ${RESOURCE_API_VERSION}
kind: ApiKey
metadata: { name: ${text(name)} }
spec:
  organizationRef: { name: ${text(organization)} }
  scopes: [${scopes.join(', ')}]
  expiresAt: ${text(expiresAt)}
  keyHash: ${text(keyHash)}
`
}
