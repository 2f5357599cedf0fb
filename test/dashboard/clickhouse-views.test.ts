/** The statements of docs/clickhouse-views.md, as printed, beside the answers of the Overview. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { engineCode } from '../../ports/facts/engine/engine-codes.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { installRecord, visitRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { ROOT } from '../tidy/source-files.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import { organizationOf, startStage, type Stage, websiteOf } from './support/stage.ts'

const clock = middayClock()
const NOW_MS = clock()
/** Late in the evening of UTC, when it is the next day in Berlin. */
const ago = (days: number): number => NOW_MS - days * DAY_MS + 11.5 * HOUR_MS
const NOT_ALLOWED = '497'
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

describe('the views for BI tools', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  let page: string
  let statements: readonly string[]
  before(async () => {
    facts = await openTestFacts()
    const members = { 'anna@acme.dev': 'Viewer' }
    const manifests = organizationOf('acme', { members, timeZone: 'Europe/Berlin' })
    stage = await startStage({ manifests: manifests + websiteOf(OF.website, 'acme'), facts, clock })
    cookies = await stage.signIn('anna@acme.dev')
    const machine = { ...OF, installationId: 'upgraded', receivedAtMs: ago(5) }
    const foreign = { organization: 'other', website: 'other-site' }
    const records = [
      ...visitOf({ atMs: ago(3), source: 'news', campaign: "it's a \\ campaign", installs: 3 }),
      ...visitOf({ atMs: ago(3) - 2 * HOUR_MS, source: 'news', campaign: 'launch' }),
      ...visitOf({ atMs: ago(4), installs: 1 }),
      visitRecord({ ...OF, issuedAtMs: ago(4) + MINUTE_MS, visitor: { kind: 'bot', platform: '' } }),
      unmatchedAt(ago(4), '2.0.0'),
      installRecord({ ...machine, productVersion: '1.0.0' }),
      installRecord({ ...machine, receivedAtMs: ago(4), productVersion: '2.0.0' }),
      installRecord({ ...OF, installationId: 'in-ci', receivedAtMs: ago(4), isCi: true }),
      installRecord({ ...OF, installationId: 'on-free', receivedAtMs: ago(4), resolution: 'counted' }),
      installRecord({ ...foreign, installationId: 'foreign', receivedAtMs: ago(4) }),
      visitRecord({ ...foreign, issuedAtMs: ago(4) }),
    ]
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
    const text = await readFile(join(ROOT, 'docs/clickhouse-views.md'), 'utf8')
    // The embedded engine has one database and one user, both of the name "default".
    page = text.replaceAll('whence.', 'default.').replaceAll('DEFINER = whence ', 'DEFINER = default ')
    statements = [...page.matchAll(/^```sql\n(.*?)^```/gms)].flatMap(([, block = '']) =>
      block
        .split(';')
        .map((statement) => statement.trim())
        .filter((statement) => statement !== ''),
    )
    for (const statement of statements.filter((each) => /^CREATE (DATABASE|VIEW)/.test(each)))
      await facts.connection.command(statement)
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const rowsOf = (sql: string) =>
    facts.connection.query(sql, {}, { turn: 'report' }) as Promise<readonly Record<string, any>[]>
  const overview = async () => {
    const path = `/api/organizations/acme/overview?from=${dayOf(ago(7))}&to=${dayOf(NOW_MS - DAY_MS)}&bucket=day`
    const { status, body, text } = await stage.ask('GET', path, { cookies })
    expect(status, text).to.equal(200)
    return body
  }
  const within = (column: string) => `${column} BETWEEN '${dayOf(ago(7))}' AND '${dayOf(NOW_MS - DAY_MS)}'`

  it('have the installs, the match rate and the known sources of each day of the Overview', async () => {
    const { steps, total } = await overview()
    const days = await rowsOf(`SELECT toString(day) AS day, * EXCEPT day FROM whence_acme.installs_by_day ORDER BY day`)
    const zoned = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeZone: 'Europe/Berlin' })
    const told = (steps as readonly Record<string, any>[])
      .map(({ at, installs }) => ({
        day: zoned.format(at),
        website: OF.website,
        installs: installs.installs,
        matched: installs.matched,
        looked_up: installs.matched + installs.unmatched,
        known_source: installs.known_source,
      }))
      .filter(({ installs }) => installs > 0)
    expect(days.map(numbered)).to.deep.equal(told)
    expect(total.installs).to.include({ installs: 7, matched: 4, unmatched: 2, counted: 1, known_source: 3 })
  })

  it('have the visits and the conversion of each day of the Overview', async () => {
    const { steps, total } = await overview()
    const days = await rowsOf(
      `SELECT toString(day) AS day, sum(visits) AS visits, sum(copied) AS copied, sum(installed) AS installed, sum(converted) AS converted
       FROM whence_acme.visits WHERE counted_by = 'all' AND ${within('day')} GROUP BY day ORDER BY day`,
    )
    const told = (steps as readonly Record<string, any>[]).map(({ visits }) => visits).filter((each) => each.visits > 0)
    expect(days.map(numbered).map(({ day: _, ...counts }) => counts)).to.deep.equal(
      told.map(({ visits, copied, installed, converted }) => ({ visits, copied, installed, converted })),
    )
    expect(total.visits).to.include({ visits: 3, converted: 2 })
  })

  it('have the rows of its panels, by campaign, source and landing page', async () => {
    const { panels } = await overview()
    for (const by of ['campaign', 'source', 'landing_page']) {
      const panel = panels.find((each: { by: string }) => each.by === by).rows as readonly Record<string, any>[]
      const named = { direct: 'Direct', none: 'None', no_campaign: 'No campaign', no_visit: 'No visit found' }
      const labels: Record<string, string> = { ...named, not_looked_up: 'Not looked up' }
      const told = panel.map((row) => [labels[row['row']] ?? row['value'], row['installs'], row['visits']])
      const installs = await rowsOf(
        `SELECT ${by} AS value, count() AS installs FROM whence_acme.installs WHERE ${within('day')} GROUP BY value`,
      )
      const visits = await rowsOf(
        `SELECT value, sum(visits) AS visits FROM whence_acme.visits WHERE counted_by = '${by}' AND ${within('day')} GROUP BY value`,
      )
      const countIn = (rows: readonly Record<string, any>[], value: unknown, name: string): number =>
        Number(rows.find((row) => row['value'] === value)?.[name] ?? 0)
      const values = new Set([...installs, ...visits].map((row) => row['value']))
      const seen = [...values].map((value) => [
        value,
        countIn(installs, value, 'installs'),
        countIn(visits, value, 'visits'),
      ])
      expect(seen, by).to.have.deep.members(told)
    }
  })

  it('have the columns that the page explains, and name neither a machine nor a visit', async () => {
    for (const view of ['installs', 'visits', 'installs_by_day']) {
      const columns = (await rowsOf(`DESCRIBE whence_acme.${view}`)).map(({ name }) => String(name))
      const [, section = ''] = page.split(`\n## \`${view}\``)
      const table = section.split('\n## ')[0] ?? ''
      const lines = [...table.matchAll(/^\| (`[^|]*) \|/gm)]
      const explained = lines.flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name))
      expect(columns, view).to.deep.equal(explained)
      const cells = JSON.stringify(await rowsOf(`SELECT * FROM whence_acme.${view}`))
      expect(columns.filter((name) => /installation|visit_id|identities|sitting/.test(name))).to.deep.equal([])
      for (const machine of ['machine-', 'upgraded', 'on-free', 'other-site']) expect(cells).not.to.contain(machine)
    }
  })

  it('come with grants of which the engine knows every word, and here has nobody to give them to', async () => {
    const others = statements.filter((each) => !/^CREATE (DATABASE|VIEW)/.test(each))
    expect(others.map((each) => each.split(' ')[0])).to.deep.equal(['GRANT', 'CREATE', 'GRANT', 'CREATE'])
    for (const statement of others) {
      const error: unknown = await facts.connection.command(statement).then(
        () => null,
        (reason: unknown) => reason,
      )
      expect(['511', '192', NOT_ALLOWED], statement).to.include(engineCode(error))
    }
  })
})

/** The engine writes wide numbers as texts. */
function numbered(row: Record<string, any>): Record<string, any> {
  const isCount = ([name]: [string, unknown]): boolean => name !== 'day' && name !== 'website'
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isCount([name, value]) ? Number(value) : value]),
  )
}
