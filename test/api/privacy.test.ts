/** Receipts, tokens and client addresses stand in no store, no diagnostic and no metric, however they were hidden. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { RECORD_TOPICS, TIER_NAMES } from '../../domain/records.ts'
import { openChdb } from '../../ports/facts/connect-chdb.ts'
import { FACT_TABLES } from '../../ports/facts/facts.ts'
import { eventBody, startApi, visitBody, type Api } from './support/api.ts'

const escapeAll = (text: string): string =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percentAll = (text: string): string => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le')

/** Ways to carry a secret into a body that is answered, refused or not even read. */
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
interface Canaries {
  readonly secrets: Set<string>
  readonly addresses: Set<string>
}

describe('privacy', () => {
  let folder: string
  let api: Api | null = null
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-privacy-'))
  })
  after(async () => {
    await api?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('holds in every store after a run of everything', async () => {
    api = await startApi({ folder })
    const canaries: Canaries = { secrets: new Set(), addresses: new Set() }
    for (let round = 0; round < 3; round++) await runEverything(api, canaries, round)
    await floodAndForward(api, canaries)
    await api.service.drain()
    const stores = await liveStores(api)
    await api.stop()
    api = null
    for (const [name, text] of await storedTables(folder)) stores.set(name, text)
    for (const [name, text] of await filesBelow(folder)) stores.set(name, text)

    expect(JSON.parse(stores.get('topic requests')!).length).to.be.above(300)
    expect(JSON.parse(stores.get('table request_logs')!).length).to.be.above(300)
    expect([...stores.keys()].some((name) => name.includes('lmdb'))).to.equal(true)
    expect(canaries.secrets.size).to.be.above(20)
    expect(canaries.addresses.size).to.be.above(300)
    expect([...stores].flatMap(([name, text]) => findCanaries(name, text, canaries))).to.deep.equal([])
  }).timeout(120_000)

  it('is not shown by a search that finds nothing anyway', () => {
    const secret = 'BAGh_VmtMwECAwQFj4j0QjjJ6sKaO8q8iMokrtNzkQ8'
    const canaries: Canaries = { secrets: new Set([secret]), addresses: new Set(['203.0.113.7']) }
    const hidden = [
      secret,
      escapeAll(secret),
      percentAll(secret),
      JSON.stringify(escapeAll(secret)),
      Buffer.from(`{"x":"${secret}"}`).toString('base64'),
      String(Buffer.from(secret, 'utf16le').toString('latin1')),
      'x 203.0.113.7,',
    ]
    for (const text of hidden) expect(findCanaries('', text, canaries), text).to.not.deep.equal([])
    expect(findCanaries('', '1203.0.113.7 203.0.113.77', canaries)).to.deep.equal([])
  })
})

/** One of each request there is, and each secret in every place that a request has. */
async function runEverything(api: Api, { secrets, addresses }: Canaries, round: number): Promise<void> {
  const from = (): { address: string } => {
    const turn = addresses.size
    // Spellings that appear nowhere by accident.
    const isIpv4 = turn % 2 === 0 && turn < 100
    const address = isIpv4 ? `203.0.113.${100 + turn}` : `2001:db8:beef:${(0x1000 + turn).toString(16)}::1`
    addresses.add(address)
    return { address }
  }
  const { receipt } = (await api.visit({}, from())).body['marker']
  await api.activate(receipt, {}, from())
  const handoff = (await api.handoff({ receipt, gpc: round === 1 }, from())).body
  const own = (await api.handoff(visitBody(), from())).body
  await api.event({ receipts: [receipt] }, from())
  await api.event({ handoff: own['token'] }, from())
  await api.activate(own['receipt'], {}, from())
  await api.activate(receipt, {}, { ...from(), origin: 'https://docs.acme.dev' })
  for (const secret of [receipt, handoff['token'], own['receipt'], own['token']] as string[]) {
    secrets.add(secret)
    for (const carry of CARRIERS) {
      for (const path of ['/v1/events', '/v1/visits']) await api.post(path, carry(secret), from())
    }
    for (const carry of VISIT_CARRIERS) {
      const { body } = await api.visit(carry(secret), from())
      secrets.add(body['marker'].receipt)
    }
    const headers = { 'User-Agent': `curl ${secret}`, Referer: secret, Cookie: secret }
    await api.get(`/v1/projects/${secret}/report.sh`, from())
    await api.get(`/v1/projects/acme-dev/paths/${percentAll(secret)}/report.sh?r=${secret}`, from())
    await api.get(`/v1/visits?${secret}`, { ...from(), headers })
    await api.event({}, { ...from(), headers: { 'Content-Type': secret, 'User-Agent': escapeAll(secret) } })
    await api.visit({}, { ...from(), origin: `https://${secret}.example` })
    await api.get(`/${secret}`, from())
  }
}

/** A forwarded list, and a client that is refused for its rate. */
async function floodAndForward(api: Api, { addresses }: Canaries): Promise<void> {
  const hook = '/v1/projects/acme-dev/report.sh'
  await api.get(hook, { address: '198.51.100.77, 203.0.113.99' })
  await Promise.all(Array.from({ length: 260 }, () => api.get(hook, { address: '203.0.113.42' })))
  addresses.add('198.51.100.77').add('203.0.113.99').add('203.0.113.42')
}

async function liveStores({ service, get }: Api): Promise<Map<string, string>> {
  const stores = new Map([
    ['metrics', await (await fetch(service.metricsUrl)).text()],
    ['health', (await get('/health')).text],
    ['diagnostics', service.logLines.join('\n')],
    ['what GA4 was sent', JSON.stringify(service.ga4.requests())],
  ])
  const tiers = TIER_NAMES.map((tier) => `deliver.ga4.${tier}` as const)
  for (const topic of [...RECORD_TOPICS, 'deliver.ga4', 'dead-letters', ...tiers] as const) {
    stores.set(`topic ${topic}`, JSON.stringify(await service.eventLog.read(topic, 0, 100_000)))
  }
  return stores
}

/** Tables are compressed on disk, so they are read beside being searched as files. */
async function storedTables(folder: string): Promise<Map<string, string>> {
  const connection = await openChdb(join(folder, 'data', 'chdb'))
  try {
    const stores = new Map<string, string>()
    for (const table of FACT_TABLES) {
      const rows = await connection.query(`SELECT * FROM ${table}`, {}, { isUrgent: false })
      stores.set(`table ${table}`, JSON.stringify(rows))
    }
    return stores
  } finally {
    await connection.close()
  }
}

async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = names.map(
    async (name) => [`file ${name.slice(folder.length)}`, (await readFile(name)).toString('latin1')] as const,
  )
  return new Map(await Promise.all(read))
}

function findCanaries(name: string, text: string, { secrets, addresses }: Canaries): string[] {
  const bare = [...secrets].map((secret) => secret.replace('wht_', ''))
  return Object.entries(readingsOf(text)).flatMap(([reading, shown]) => [
    ...bare.filter((secret) => shown.includes(secret)).map(() => `${name}, ${reading}: a receipt or token`),
    ...[...addresses]
      .filter((address) => containsAddress(shown, address))
      .map((address) => `${name}, ${reading}: ${address}`),
  ])
}

/** Everything that a reader of the bytes could undo in a moment. */
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

/** The address, not a longer one that begins or ends with it; the loopback address of the test itself is none of them. */
function containsAddress(text: string, address: string): boolean {
  let at = text.indexOf(address)
  while (at >= 0) {
    if (!/[0-9a-fA-F]/.test(text.charAt(at - 1)) && !/[0-9]/.test(text.charAt(at + address.length))) return true
    at = text.indexOf(address, at + 1)
  }
  return false
}
