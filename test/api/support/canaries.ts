/** Secrets and addresses in every place that a request has, and the search that must not find them again in any store. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventBody, visitBody, type Reply } from '../../../fixtures/service/requests.ts'
import type { Calls } from './api.ts'

export const escapeAll = (text: string): string =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
export const percentAll = (text: string): string =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le')

/** Ways to put a secret into a body that is accepted, refused or not even read. */
const CARRIERS: readonly ((secret: string) => string | Uint8Array)[] = [
  (secret) => JSON.stringify(eventBody({ receipts: [secret.slice(-43)] })),
  (secret) => JSON.stringify(eventBody({ handoff: secret })),
  (secret) => JSON.stringify(eventBody({ unknown: { deep: [secret] }, [secret]: 1 })),
  (secret) => JSON.stringify(eventBody({ timezone: secret, browsers: [secret], install_path: secret })),
  (secret) => JSON.stringify(eventBody()).replace('"linux"', `"${escapeAll(secret)}"`),
  (secret) => JSON.stringify(eventBody({ note: escapeAll(secret) })),
  (secret) => JSON.stringify(eventBody({ note: percentAll(secret) })),
  (secret) => JSON.stringify(eventBody({ note: percentAll(percentAll(secret)) })),
  (secret) => JSON.stringify(eventBody({ note: `prefix_${secret}_suffix${secret}` })),
  (secret) => JSON.stringify(eventBody({ event_type: secret })),
  (secret) => `{"receipts":["${secret}`,
  (secret) => secret,
  (secret) => `${escapeAll(secret)} ${percentAll(secret)}`,
  (secret) => utf16(`{"receipt":"${secret}"}`),
  (secret) => new Uint8Array([0xff, ...Buffer.from(secret), 0xfe]),
  (secret) => `{"x":"${'y'.repeat(16_300 - secret.length)}${secret}${'z'.repeat(200)}`,
  (secret) => `{"x":"${'y'.repeat(16_384 - 6 - 20)}${secret}${'z'.repeat(200)}`,
]
const VISIT_CARRIERS: readonly ((secret: string) => Record<string, unknown>)[] = [
  (secret) => ({
    source: {
      utm: { source: secret, term: percentAll(secret).slice(0, 150) },
      referrer: `https://x.example/${secret}`,
    },
  }),
  (secret) => ({
    client: { language: secret, brands: [{ brand: secret, version: `x${secret}y` }] },
  }),
  (secret) => ({
    identities: {
      ga4: { 'G-1': { client_id: secret } },
      custom: { [secret]: { [secret]: percentAll(secret) } },
      google_ads: { gclid: `Cj0${secret}`, session_attributes: escapeAll(secret) },
    },
  }),
  (secret) => ({ page_url: `https://acme.dev/${secret}/${percentAll(secret)}` }),
  (secret) => ({ previous_receipt: secret }),
  (secret) => ({ page_url: `https://acme.dev/install?r=${secret}#${secret}` }),
  (secret) => ({ referrer: `https://x.example/?token=${percentAll(secret)}` }),
  (secret) => ({ gpc: true, referrer: `https://x.example/?gclid=${secret}` }),
]

/** What must not be found again. */
export interface Canaries {
  /** Receipts and tokens. */
  readonly secrets: Set<string>
  readonly addresses: Set<string>
  /** Provider secrets, cookies and identities of people who opted out. */
  readonly others?: ReadonlySet<string>
}

/** One request of each kind, and each secret in every place of a request. */
export async function runEverything(api: Calls, { secrets, addresses }: Canaries, round: number): Promise<void> {
  const from = (): { address: string } => {
    const turn = addresses.size
    // Spellings that appear nowhere by accident.
    const isIpv4 = turn % 2 === 0 && turn < 100
    const address = isIpv4 ? `203.0.113.${100 + turn}` : `2001:db8:beef:${(0x1000 + turn).toString(16)}::1`
    addresses.add(address)
    return { address }
  }
  const { receipt } = answerOf(await api.visit({}, from()))['marker']
  await api.activate(receipt, {}, from())
  const handoff = answerOf(await api.handoff({ receipt, gpc: round === 1 }, from()))
  const own = answerOf(await api.handoff(visitBody(), from()))
  await api.event({ receipts: [receipt] }, from())
  await api.event({ handoff: own['token'] }, from())
  await api.activate(own['receipt'], {}, from())
  await api.activate(receipt, {}, { ...from(), origin: 'https://docs.acme.dev' })
  for (const secret of [receipt, handoff['token'], own['receipt'], own['token']] as string[]) {
    secrets.add(secret)
    const headers = { 'User-Agent': `curl ${secret}`, Referer: secret, Cookie: secret }
    const visits = VISIT_CARRIERS.map((carry) => api.visit(carry(secret), from()))
    await Promise.all([
      ...CARRIERS.flatMap((carry) => ['/v1/events', '/v1/visits'].map((path) => api.post(path, carry(secret), from()))),
      api.get(`/v1/projects/${secret}/report.sh`, from()),
      api.get(`/v1/projects/acme-dev/paths/${percentAll(secret)}/report.sh?r=${secret}`, from()),
      api.get(`/v1/visits?${secret}`, { ...from(), headers }),
      api.event({}, { ...from(), headers: { 'Content-Type': secret, 'User-Agent': escapeAll(secret) } }),
      api.event({ place: secret, product_version: secret }, from()),
      api.visit({}, { ...from(), origin: `https://${secret}.example` }),
      api.get(`/${secret}`, from()),
    ])
    for (const visit of await Promise.all(visits)) secrets.add(answerOf(visit)['marker'].receipt)
  }
}

/** A machine that is too busy to store in time must not look like a leak. */
function answerOf({ status, body, text }: Reply): Reply['body'] {
  if (status !== 200) throw new Error(`it was answered ${status}: ${text}`)
  return body
}

/** A forwarded list, and a client that is refused for its rate. */
export async function floodAndForward(api: Calls, { addresses }: Canaries): Promise<void> {
  const hook = '/v1/projects/acme-dev/report.sh'
  await api.get(hook, { address: '198.51.100.77, 203.0.113.99' })
  await Promise.all(Array.from({ length: 260 }, () => api.get(hook, { address: '203.0.113.42' })))
  addresses.add('198.51.100.77').add('203.0.113.99').add('203.0.113.42')
}

/** Kafka's indexes hold only offsets and times, and take 10 MiB each, mostly empty. */
const IS_INDEX = /\.(time|txn)?index$/

export async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !IS_INDEX.test(entry.name))
  const names = files.map((entry) => join(entry.parentPath, entry.name))
  const read = names.map(
    async (name) =>
      [`file ${name.slice(folder.length)}`, withoutGaps((await readFile(name)).toString('latin1'))] as const,
  )
  return new Map(await Promise.all(read))
}

/** Preallocated files are mostly zeros, which need no search. */
function withoutGaps(text: string): string {
  const parts = text.split('\0'.repeat(32))
  return parts.filter((part) => part !== '').join('\0')
}

export function findCanaries(name: string, text: string, { secrets, addresses, others }: Canaries): string[] {
  const bare = [...secrets].map((secret) => secret.replace('wht_', ''))
  return Object.entries(readingsOf(text)).flatMap(([reading, shown]) => [
    ...bare.filter((secret) => shown.includes(secret)).map(() => `${name}, ${reading}: a receipt or token`),
    ...[...addresses]
      .filter((address) => containsAddress(shown, address))
      .map((address) => `${name}, ${reading}: ${address}`),
    ...[...(others ?? [])].filter((other) => shown.includes(other)).map((other) => `${name}, ${reading}: ${other}`),
  ])
}

/** Every encoding that a reader of the bytes could undo easily. */
function readingsOf(text: string): Record<string, string> {
  // JSON escapes the backslashes of what it carries.
  const plain = text.replaceAll('\\\\', '\\')
  const unescaped = plain.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const decode = (from: string): string =>
    from.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const once = decode(unescaped)
  return {
    'as it is': text,
    unescaped,
    'percent-decoded': once,
    'percent-decoded twice': decode(once),
    'without zeros': text.replaceAll('\0', '').replaceAll('\\u0000', ''),
    'of base64': text.replace(/[A-Za-z0-9+/]{48,}={0,2}/g, (run) =>
      Buffer.from(run, 'base64').toString('latin1').replaceAll('\0', ''),
    ),
  }
}

/** The address, not a longer one that begins or ends with it; the loopback address of the test itself does not count. */
function containsAddress(text: string, address: string): boolean {
  let at = text.indexOf(address)
  while (at >= 0) {
    if (!/[0-9a-fA-F]/.test(text.charAt(at - 1)) && !/[0-9]/.test(text.charAt(at + address.length))) return true
    at = text.indexOf(address, at + 1)
  }
  return false
}
