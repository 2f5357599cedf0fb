/**
 * Every route that reads, over a real engine with the facts of two organisations: what others have is answered like what nobody
 * has, with the same statements, and no statement goes beyond the own organisation.
 */

import { expect } from 'chai'

import type { RouteRow } from '../../dashboard/api/route.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { dashboardPlace } from '../../domain/logs/dashboard-place.ts'
import type { LogRecord } from '../../domain/records.ts'
import { until } from '../../fixtures/until.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import {
  activityRecord,
  attempt,
  deliveryRecord,
  installRecord,
  requestRecord,
  store,
  visitRecord,
  webhookAttemptRecord,
} from '../contract/fact-samples.ts'
import { SECRET } from '../delivery/webhooks/receiver.ts'

import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { billingOver } from './support/billing.ts'
import { organizationOf, startStage, type Stage, type Told, websiteOf } from './support/stage.ts'

/** So recent that one window of each list holds it: a second window is read only if the first was quick. */
const AT_MS = Date.now() - 2 * MINUTE_MS
const SINCE_MS = AT_MS - 2 * MINUTE_MS

/** What a request can name of one organisation. */
interface Named {
  readonly organization: string
  /** Website, webhook and log stream have the same name. */
  readonly object: string
  readonly event: string
  /** Of a visit and a person: so many digits in hexadecimal. */
  readonly digits: (count: number) => string
  /** Of a request, a replay and a message: begins with a time. */
  readonly timeOrdered: string
}

const namesOf = (organization: string, digit: string): Named => ({
  organization,
  object: `${organization}-one`,
  event: `event-of-${organization}`,
  digits: (count) => digit.repeat(count),
  timeOrdered: AT_MS.toString(16).padStart(12, '0') + digit.repeat(16),
})
const OWN = namesOf('acme', '1')
const FOREIGN = namesOf('globex', '2')
const UNKNOWN = namesOf('nobody', '3')

/** By the names of parameters in paths and queries. */
const valuesOf = ({
  organization,
  object,
  event,
  digits,
  timeOrdered: id,
}: Named): Readonly<Record<string, string>> => ({
  organization,
  website: object,
  namespace: 'default',
  name: object,
  stream: object,
  kind: 'Website',
  event,
  request: id,
  attempt: `attempt-of-${organization}`,
  replay: id,
  message: id,
  reference: event,
  visit: digits(32),
  object: `Website/${object}`,
  destination: `${organization}-ga4`,
  actor: `p_${digits(16)}`,
  source: `source-of-${organization}`,
  text: `body-of-${organization}`,
  campaign: `campaign-of-${organization}`,
  page: `https://${organization}.example/install`,
})

const recordsOf = (named: Named): readonly LogRecord[] => {
  const { organization, object: website, event: eventId, digits, timeOrdered: id } = named
  const values = valuesOf(named)
  const of = { organization, website }
  const utm = { source: values['source'] ?? '', campaign: values['campaign'] ?? '' }
  const visit = { visitId: digits(32), issuedAtMs: AT_MS, pageUrl: values['page'] ?? '', utm }
  const matched = { resolution: 'matched', visitId: digits(32), visitIssuedAtMs: AT_MS } as const
  const sent = { startedAtMs: AT_MS, attemptId: values['attempt'] ?? '' }
  return [
    visitRecord({ ...of, ...visit }),
    installRecord({ ...of, ...matched, eventId, receivedAtMs: AT_MS }),
    requestRecord({ ...of, id, receivedAtMs: AT_MS, body: values['text'] ?? '' }),
    deliveryRecord({
      ...of,
      eventId,
      destination: values['destination'] ?? '',
      status: 'failed',
      reason: 'refused',
      atMs: AT_MS,
      attempt: attempt(sent),
    }),
    activityRecord({ ...of, atMs: AT_MS, subject: `Website/${website}`, actor: values['actor'] ?? '' }),
    webhookAttemptRecord({ ...of, webhook: `default/${website}`, messageId: id, startedAtMs: AT_MS }),
    {
      v: 1,
      kind: 'replay',
      id,
      organization,
      website,
      askedAtMs: AT_MS,
      policy: { policy: 'first_visit', windowMs: 30 * DAY_MS, isTokensOnly: false },
      sinceMs: SINCE_MS,
      untilMs: AT_MS,
      session: 'of nobody',
    },
  ]
}

const manifestsOf = ({ organization, object }: Named): string => {
  const head = (kind: string) =>
    `---\napiVersion: whence.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${object} }\nspec:\n  organizationRef: { name: ${organization} }\n`
  const secretRef = `secretRef: { name: ${organization}-keys, key: secret }`
  return [
    organizationOf(organization, { members: { [`owner@${organization}.dev`]: 'Owner' } }),
    websiteOf(object, organization),
    `---\napiVersion: v1\nkind: Secret\nmetadata: { name: ${organization}-keys }\nstringData: { secret: ${SECRET} }\n`,
    `${head('LogStream')}  webhook: { url: 'https://logs.${organization}.example/in', ${secretRef} }\n`,
    `${head('Webhook')}  url: https://hooks.${organization}.example/in\n  ${secretRef}\n  events: [install.matched]\n`,
  ].join('')
}

interface Statement {
  readonly query: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A stage, whose owner of `acme` asks, and the statements of the request that was made last. */
interface Asking {
  readonly stage: Stage
  readonly cookies: string
  readonly statements: () => readonly Statement[]
  readonly ask: (row: RouteRow, values: Readonly<Record<string, string>>, query?: string) => Promise<Told>
}

async function startAsking(facts: FactsReader): Promise<Asking> {
  let asked: Statement[] = []
  const run = (query: string, params: Statement['params'], options: object) => {
    // Asked in no request's name, to end replays whose person has gone.
    if (query === 'openReplays') return Promise.resolve([])
    asked.push({ query, params })
    return facts.run(query as never, params as never, options)
  }
  let requests = 0
  const stage = await startStage({
    // No request answers from what one before it has read.
    elapsedMs: () => requests * 10_000,
    manifests: [OWN, FOREIGN].map(manifestsOf).join('---\n'),
    facts: { run } as never,
    supportMail: 'support@acme.dev',
    billing: () => billingOver('http://127.0.0.1:9'),
  })
  const cookies = await stage.signIn(`owner@${OWN.organization}.dev`)
  return {
    stage,
    cookies,
    statements: () => asked,
    ask: ({ method, path }, values, query = '') => {
      asked = []
      requests += 1
      const filled = path.replace(/:(\w+)/g, (_, name: string) => {
        const value = values[name]
        if (value === undefined) throw new Error(`the test has no value for :${name}`)
        return encodeURIComponent(value)
      })
      const body = method === 'POST' ? { body: { text: values['event'] } } : {}
      return stage.ask(method, filled + query, { cookies, ...body })
    },
  }
}

/** Without the time of the request, and with the same words for what it named, also where that is a number made of it. */
function comparable(value: unknown, named: Named): string {
  const words = Object.entries(valuesOf(named)).filter(
    ([name]) => !['kind', 'namespace', 'organization'].includes(name),
  )
  const longestFirst = words.toSorted(([, a], [, b]) => b.length - a.length)
  const text = longestFirst.reduce(
    (known, [, word]) => known.replaceAll(word, 'NAMED').replaceAll(encodeURIComponent(word), 'NAMED'),
    typeof value === 'string' ? value : JSON.stringify(value),
  )
  return text
    .replace(/\b1[78]\d{11}\b/g, 'TIME')
    .replace(/ to 20\d\d-\d\d-\d\dT[\d:.]+Z/g, ' to TIME')
    .replace(/"refs":\[\d+\]/g, '"refs":[NAMED]')
    .replace(/"(cursor|next)":"[^"]*"/g, '"$1":"CURSOR"')
}

const READS = Object.entries(ROUTES as Readonly<Record<string, RouteRow>>).filter(
  ([, { path, rate }]) => path.includes(':organization') && rate === 'read',
)
const STREAMS = ['live', 'logTail']

describe('the routes that read', function () {
  this.timeout(60_000)
  let facts: TestFacts
  /** Two of them, so that none answers from what another request has just read. */
  let first: Asking | undefined
  let second: Asking | undefined
  before(async () => {
    facts = await openTestFacts()
    await store(facts, [OWN, FOREIGN].flatMap(recordsOf))
    first = await startAsking(facts)
    second = await startAsking(facts)
  })
  after(async () => {
    await first?.stage.stop()
    await second?.stage.stop()
    await facts?.close()
  })

  const other = (): Asking => first as Asking
  const nobody = (): Asking => second as Asking
  const sinceOf = ({ query = {} }: RouteRow): string => ('since' in query ? `since=${SINCE_MS}` : '')

  /** Names the organisation, or at least only websites of it, and where requests of its dashboard are. */
  const isOwn = ({ query, params }: Statement): void => {
    const { organization, website, websites = website === undefined ? [] : [website] } = params
    const named = websites as readonly unknown[]
    const isBound = organization === OWN.organization || (organization === undefined && named.length > 0)
    expect(isBound, `${query} ${JSON.stringify(params)}`).to.equal(true)
    const own = [OWN.object, dashboardPlace(OWN.organization)]
    for (const each of named) expect(each, query).to.be.oneOf(own)
  }

  it('are all that there are', () => {
    expect(READS.length).to.be.at.least(30)
    const others = Object.values(ROUTES as Readonly<Record<string, RouteRow>>).filter(({ method }) => method === 'GET')
    const paths = READS.map(([, { path }]) => path)
    for (const { path } of others.filter((row) => row.path.includes(':organization'))) expect(paths).to.include(path)
  })

  for (const [name, row] of READS) {
    const pathNames = [...row.path.matchAll(/:(\w+)/g)]
      .map(([, found = '']) => found)
      .filter((found) => found !== 'organization' && found !== 'kind' && found !== 'namespace')
    const isStream = STREAMS.includes(name)
    const queryNames = Object.keys(row.query ?? {}).filter(
      // What a stream reads is no matter of one request; it does not even begin for a website of others.
      (found) => found in valuesOf(OWN) && found !== 'kind' && (!isStream || found === 'website'),
    )

    it(`${name} answers for organisations of others and of nobody the same, and reads nothing`, async () => {
      const told = await Promise.all([
        other().ask(row, { ...valuesOf(OWN), organization: FOREIGN.organization }),
        nobody().ask(row, { ...valuesOf(OWN), organization: UNKNOWN.organization }),
      ])
      for (const { status, text } of told) expect([status, text]).to.deep.equal([404, '{"error":"not_found"}'])
      expect([other().statements(), nobody().statements()]).to.deep.equal([[], []])
    })

    /** What the request names of others or of nobody; the rest is its own. */
    const namings = [
      ...(pathNames.length === 0 ? [] : [pathNames]),
      ...(pathNames.length > 1 && pathNames.includes('website')
        ? [pathNames.filter((found) => found !== 'website')]
        : []),
      ...(row.method === 'POST' ? [['event']] : []),
    ]
    const wanted = [
      ...namings.map((names) => ({ names, query: '' })),
      ...queryNames.map((found) => ({ names: [] as string[], query: found })),
    ]
    for (const { names, query } of wanted)
      it(`${name} answers the same, by the same statements, if ${[...names, query].join(' ').trim()} is of others or of nobody`, async () => {
        const askFor = async (asking: Asking, named: Named): Promise<readonly unknown[]> => {
          const values = Object.fromEntries(names.map((found) => [found, valuesOf(named)[found] ?? '']))
          const filter = query === '' ? '' : `${query}=${encodeURIComponent(valuesOf(named)[query] ?? '')}`
          const search = [filter, sinceOf(row)].filter((part) => part !== '').join('&')
          const told = await asking.ask(row, { ...valuesOf(OWN), ...values }, search === '' ? '' : `?${search}`)
          expect(told.status, told.text).to.be.oneOf([200, 404])
          for (const statement of asking.statements()) isOwn(statement)
          return [told.status, comparable(told.text, named), comparable(asking.statements(), named)]
        }
        expect(await askFor(other(), FOREIGN)).to.deep.equal(await askFor(nobody(), UNKNOWN))
      })

    if (!isStream)
      it(`${name} reads no facts but those of its own organisation`, async () => {
        const { status, text } = await other().ask(row, valuesOf(OWN), sinceOf(row) === '' ? '' : `?${sinceOf(row)}`)
        expect(status, text).to.equal(200)
        expect(text).to.not.match(/globex|2{16}/)
        for (const statement of other().statements()) isOwn(statement)
      })
  }

  // The last ones: a stream may read on for a moment after its reader has left.
  for (const [name, row] of READS.filter(([each]) => STREAMS.includes(each)))
    it(`${name} reads no facts but those of its own organisation`, async () => {
      expect((await other().ask(row, valuesOf(OWN))).status).to.equal(200)
      await until(() => other().statements().length > 0)
      for (const statement of other().statements()) isOwn(statement)
    })
})
