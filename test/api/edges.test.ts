/** What a collection endpoint accepts becomes facts: the edges of every field, made from its schema, go through the encoders of the tables. */

import { expect } from 'chai'
import { Registry } from 'prom-client'
import { createApp } from '../../api/app.ts'
import { createApiMetrics } from '../../api/metrics.ts'
import { listen, type ApiServer } from '../../api/server.ts'
import { addFactRows } from '../../delivery/facts-writer/fact-rows.ts'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  VISIT_SCHEMA,
} from '../../domain/collection/schemas.ts'
import { LAST_MOMENT_MS } from '../../domain/durations.ts'
import { readRecord } from '../../domain/read-record.ts'
import { encodeRow } from '../../ports/facts/tab-separated.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import type { FactRow } from '../../ports/facts/facts.ts'
import { callsTo, eventBody, TEST_ORIGIN, visitBody, type Calls } from './support/api.ts'
import { bareCatalog, bareDeps } from './support/bare-api.ts'

type Schema = Readonly<Record<string, any>>
type Body = Record<string, any>
type Rows = readonly (readonly [FactTable, FactRow])[]

const TIMES = [0, LAST_MOMENT_MS].flatMap((edge) => [edge - 1, edge, edge + 1, edge + 0.5])
const DATES = [
  ...[...TIMES, Date.UTC(1924), Date.UTC(2106, 1, 8), Date.UTC(2299, 11, 31), Date.UTC(2300)].map((ms) =>
    new Date(ms).toISOString(),
  ),
  '2099-12-31',
  '2100-01-01',
  '2099-12-31T23:59:59.9999Z',
  '2099-12-31T23:59:59.999-01:00',
  '1970-01-01T00:00:00.0005Z',
  '1970-01-01T00:00:00+14:00',
  '0001-01-01',
  '9999-12-31',
]
const NUMBERS = [-0, 0.1, 1e3, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 63, ...TIMES]
const PIECES = ['x', '🚀', 'é', '\0', '\ud800', '\udfff\ud800', '\\', '"', "'", '\t\n\r\b\f', '%00', '\\N']
/** A longer text fits no body. */
const MOST_CHARS = 16_000

/** Texts of every length at an edge, in characters and in bytes. */
function textEdges({ maxLength = MOST_CHARS, minLength = 0, enum: words = [] }: Schema): readonly string[] {
  const lengths = [minLength - 1, minLength, maxLength, maxLength + 1].filter((length) => length >= 0)
  const long = lengths.flatMap((length) =>
    PIECES.map((piece) => [...piece.repeat(length)].slice(0, Math.min(length, MOST_CHARS)).join('')),
  )
  return [...PIECES, ...words, ...long, ...DATES]
}

function listEdges({ items, maxItems }: Schema): readonly unknown[] {
  const values = edgesOf(items)
  const filled = (count: number) => Array.from({ length: count }, (_, place) => values[place % values.length])
  return [[], filled(1), filled(maxItems), filled(maxItems + 1), ...values.map((value) => [value])]
}

function mapEdges({ propertyNames, additionalProperties, maxProperties }: Schema): readonly unknown[] {
  const names = propertyNames.pattern === undefined ? textEdges(propertyNames) : ['G-TEST000001', 'G-', '']
  const values = edgesOf(additionalProperties)
  const filled = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, place) => [`G-TEST${place}`, values[place % values.length]]))
  const named = names.map((name) => ({ [name]: values[0] }))
  return [
    {},
    ...named,
    filled(maxProperties),
    filled(maxProperties + 1),
    ...values.map((value) => ({ 'G-TEST1': value })),
  ]
}

/** Whether the schema accepts them does not matter: what is accepted must become a fact. */
function edgesOf(schema: Schema): readonly unknown[] {
  if (schema['anyOf'] !== undefined) return (schema['anyOf'] as readonly Schema[]).flatMap(edgesOf)
  switch (schema['type'] as string) {
    case 'string':
      return textEdges(schema)
    case 'integer':
    case 'number':
      return [
        ...NUMBERS,
        ...[schema['minimum'], schema['maximum']].flatMap((edge) =>
          edge === undefined ? [] : [edge - 1, edge, edge + 1],
        ),
      ]
    case 'boolean':
      return [true, false]
    case 'array':
      return listEdges(schema)
    default:
      return schema['additionalProperties'] === undefined ? membersEdges(schema) : mapEdges(schema)
  }
}

function membersEdges({ properties = {} }: Schema): readonly unknown[] {
  return [
    {},
    ...Object.entries<Schema>(properties).flatMap(([name, one]) => edgesOf(one).map((value) => ({ [name]: value }))),
  ]
}

const ROUTES: readonly (readonly [string, Schema, (more: Body) => Body])[] = [
  ['/v1/visits', VISIT_SCHEMA, visitBody],
  ['/v1/handoffs', HANDOFF_VISIT_SCHEMA, visitBody],
  ['/v1/handoffs', HANDOFF_RECEIPT_SCHEMA, (more) => ({ project: 'acme-dev', ...more })],
  ['/v1/visits/activate', ACTIVATION_SCHEMA, (more) => ({ project: 'acme-dev', ...more })],
  ['/v1/events', EVENT_SCHEMA, eventBody],
]

describe('what collection accepts', () => {
  let server: ApiServer
  let calls: Calls
  let appended: string[] = []
  before(async () => {
    const bare = bareDeps(bareCatalog())
    const append = (_: unknown, entries: readonly { readonly value: string }[]) => {
      appended.push(...entries.map(({ value }) => value))
      return Promise.resolve()
    }
    const eventLog = { ...bare.eventLog, append }
    const deps = { ...bare, eventLog, metrics: createApiMetrics(new Registry()) }
    server = await listen(createApp(deps), { host: '127.0.0.1', port: 0 })
    calls = callsTo(`http://127.0.0.1:${server.port}`)
  })
  after(() => server.close())
  beforeEach(() => {
    appended = []
  })

  /** The rows of everything appended since; throws what the facts-writer would call poison. */
  const rows = (): Rows =>
    appended.flatMap((value) => {
      const reading = readRecord('fact', value)
      if (reading.kind !== 'record') throw new Error(`a record is ${reading.kind}`)
      const made: (readonly [FactTable, FactRow])[] = []
      addFactRows(reading.record, { topic: 'visits', partition: 0, offset: 0 }, (table, row) => made.push([table, row]))
      for (const [table, row] of made) encodeRow(table, row)
      return made
    })

  for (const [path, schema, bodyOf] of ROUTES) {
    for (const [name, one] of Object.entries<Schema>(schema['properties'])) {
      it(`by ${path} with any edge of ${name} becomes rows of every table`, async () => {
        let accepted = 0
        for (const value of edgesOf(one)) {
          appended = []
          const body = bodyOf({ [name]: value })
          const reply = await calls.post(path, body)
          expect(reply.status, reply.text).to.be.oneOf([200, 400, 403, 404, 413])
          expect(appended, JSON.stringify(value).slice(0, 80)).to.have.length.of.at.least(1)
          expect(() => rows(), `${reply.status} ${JSON.stringify(value).slice(0, 80)}`).to.not.throw()
          if (reply.status === 200) accepted++
        }
        // Receipts and IDs of this website cannot be made from a schema.
        const isMade = !['url_id', 'page_url', 'project', 'receipt'].includes(name) && !path.endsWith('/activate')
        if (isMade && schema !== HANDOFF_RECEIPT_SCHEMA) expect(accepted, name).to.be.greaterThan(0)
      }).timeout(120_000)
    }
  }

  it('includes the last moment that a column holds, and nothing later', async () => {
    const landedAt = async (landed_at: unknown) => {
      appended = []
      const reply = await calls.visit({ source: { landed_at } })
      const visit = rows().find(([table]) => table === 'visits')
      return reply.status === 200 ? visit?.[1]['landed_at'] : reply.body['field']
    }
    expect(await landedAt(4_102_444_799_999)).to.equal(4_102_444_799_999)
    expect(await landedAt('2099-12-31T23:59:59.999Z')).to.equal(4_102_444_799_999)
    expect(await landedAt(4_102_444_800_000)).to.equal('/source/landed_at')
    expect(await landedAt('2100-01-01')).to.equal('/source/landed_at')
    expect(await landedAt(0)).to.equal(0)
    expect(await landedAt(-1)).to.equal('/source/landed_at')
  })

  it('loses no address to a second limit: what the schema accepts is stored whole', async () => {
    // Each rocket is two units of UTF-16 and one character of a schema.
    const address = `${TEST_ORIGIN}/`.padEnd(8_192 - 300, 'a') + '🚀'.repeat(300)
    for (const [field, column] of [
      ['page_url', 'page_url'],
      ['referrer', 'referrer'],
    ] as const) {
      appended = []
      expect((await calls.visit({ [field]: `${address}?q=${'x'.repeat(3_000)}` })).status).to.equal(200)
      expect(rows().find(([table]) => table === 'visits')?.[1][column]).to.equal(new URL(address).href)
      expect((await calls.visit({ [field]: `${address}a` })).body['field']).to.equal(`/${field}`)
    }
  })
})
