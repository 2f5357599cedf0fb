/** The examples of docs/use-the-api.md, each as far as its format goes: nobody here has Grafana, Metabase or Excel. */

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'

import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'

import { KEY_ROUTES } from '../../dashboard/api/keyed.ts'
import { INSTALLS_BY } from '../../domain/figures/installs.ts'
import { CsvReader } from '../../domain/spend/csv-reader.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { compileManifests } from '../../runtime/catalog/source.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { PROGRAM } from '../bin/support/run-whencectl.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { ROOT } from '../tidy/source-files.ts'
import { OF, visitOf } from './support/sourced.ts'
import { apiKeyOf, organizationOf, specTime, startStage, type Stage, websiteOf } from './support/stage.ts'

const run = promisify(execFile)
const clock = middayClock()
const NOW_MS = clock()
const KEY = apiKeyOf('example', { organization: 'acme', expiresAt: specTime(NOW_MS + 30 * DAY_MS) })
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
/** Each campaign has an install of its own day. */
const CAMPAIGNS = ['launch', '=trap', 'a "quoted", name']

describe('the page about the API', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let page: string
  let folder: string
  before(async () => {
    facts = await openTestFacts()
    const manifests = organizationOf('acme') + websiteOf(OF.website, 'acme') + KEY.text
    stage = await startStage({ manifests, facts, clock })
    const records = CAMPAIGNS.flatMap((campaign, place) =>
      visitOf({ atMs: NOW_MS - (place + 1) * DAY_MS - 2 * HOUR_MS, source: 'news', campaign, installs: 1 }),
    )
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
    folder = await mkdtemp(join(tmpdir(), 'whence-use-the-api-'))
    const text = await readFile(join(ROOT, 'docs/use-the-api.md'), 'utf8')
    page = text
      .replaceAll('https://whence.acme.dev', stage.url)
      .replaceAll('acme-dev', OF.website)
      // Days that move with the calendar.
      .replaceAll('2026-01-01', dayOf(NOW_MS - 100 * DAY_MS))
      .replaceAll('2027-06-30', dayOf(NOW_MS + 100 * DAY_MS))
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  const blocksOf = (language: string): readonly string[] =>
    [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, body = '']) =>
      kind === language ? [body] : [],
    )
  const ask = (url: string, headers: Readonly<Record<string, string>>) =>
    stage.ask('GET', url.slice(stage.url.length), { headers })
  const recordsIn = (text: string): readonly (readonly string[])[] => {
    const reader = new CsvReader()
    return [...reader.read(text), ...reader.end()].map(({ fields }) => fields)
  }

  it('makes a key whose manifest compiles, and keeps the key out of it', async () => {
    const [command = ''] = blocksOf('sh')
    const shell = command.replace('whencectl', `'${process.execPath}' '${PROGRAM}'`)
    const { stderr } = await run('sh', ['-c', shell], { cwd: folder, env: { PATH: '/usr/bin:/bin' } })
    const key = /whk_[\w-]{43}/.exec(stderr)?.[0] ?? ''
    expect(key).to.have.length(47)
    const manifest = await readFile(join(folder, 'acme-grafana.yaml'), 'utf8')
    expect(manifest).not.to.include(key)
    const files = [organizationOf('acme'), manifest].map((text, place) => ({ name: `${place}.yaml`, text }))
    const compiled = compileManifests(files, { env: {}, nowMs: clock() })
    expect(compiled.problems).to.deep.equal([])
    expect([...compiled.people.apiKeys.values()].map(({ name, scopes }) => [name, scopes])).to.deep.equal([
      ['acme-grafana', ['figures', 'installs']],
    ])
  })

  it('asks with curl as printed', async () => {
    const env = { PATH: '/usr/bin:/bin', WHENCE_KEY: KEY.headers.Authorization.slice('Bearer '.length) }
    const [, figures = '', installs = '', metabase = ''] = blocksOf('sh')
    const shown = async (script: string) => (await run('sh', ['-c', script], { cwd: folder, env })).stdout
    const { rows, total } = JSON.parse(await shown(figures)) as { rows: readonly object[]; total: object }
    expect(total).to.deep.equal({ installs: 3, visits: 3 })
    expect(rows).to.have.length(7)
    const [names = [], ...listed] = recordsIn(await shown(installs))
    expect([names[0], listed.length]).to.deep.equal(['received_at', 3])
    await shown(metabase)
    const file = recordsIn(await readFile(join(folder, 'installs-by-source.csv'), 'utf8'))
    // Metabase makes columns of a table of the names, and a row of as many cells.
    for (const name of file[0] ?? []) expect(name).to.match(/^[a-z][a-z_]*$/)
    expect(new Set(file[0]).size).to.equal(file[0]?.length)
    expect(new Set(file.map((cells) => cells.length)).size).to.equal(1)
    expect(file.slice(1).filter(([value]) => value === 'news').length).to.be.within(1, 2)
  })

  it('shows the fields that an answer has', async () => {
    const [example = '{}', query = '{}'] = blocksOf('json')
    const written = JSON.parse(example) as { rows: readonly object[] }
    const { body } = await ask(`${stage.url}/v1/figures?by=source&bucket=day&metrics=installs,visits`, KEY.headers)
    expect(Object.keys(written)).to.deep.equal(Object.keys(body))
    for (const row of written.rows) expect(Object.keys(row)).to.deep.equal(Object.keys(body['rows'][0]))
    expect(Object.keys(JSON.parse(query) as object)).to.include('url')
  })

  it('gives Grafana rows at its selector, with a moment and numbers in the columns, and its file is YAML', async () => {
    const query = JSON.parse(blocksOf('json')[1] ?? '{}') as {
      readonly url: string
      readonly root_selector: string
      readonly columns: readonly { readonly selector: string; readonly type: string }[]
    }
    const url = query.url
      .replace('${__from:date:iso}', new Date(NOW_MS - 3 * DAY_MS).toISOString())
      .replace('${__to:date:iso}', new Date(NOW_MS).toISOString())
    const { status, body, text } = await ask(url, KEY.headers)
    expect(status, text).to.equal(200)
    const rows: readonly Record<string, unknown>[] = body[query.root_selector]
    expect(rows).to.have.length(4)
    for (const row of rows)
      for (const { selector, type } of query.columns) {
        if (type === 'number') expect(row[selector], selector).to.be.a('number')
        else expect(Date.parse(String(row[selector])), selector).to.be.greaterThan(0)
      }
    const [source] = parseAllDocuments(blocksOf('yaml')[0] ?? '').map((each) => each.toJS())
    expect(source.datasources[0].jsonData).to.deep.equal({ auth_method: 'bearerToken', allowedHosts: [stage.url] })
  })

  it('fills cells of Google Sheets by its script', async () => {
    const [script = ''] = blocksOf('js')
    const query = 'website=acme-site&by=campaign&metrics=installs,visits'
    const asked: { url: string; headers: Record<string, string> }[] = []
    // UrlFetchApp answers at once, so the first run tells what is asked, and the second gets the answer.
    const runWith = (content: string): unknown =>
      runInNewContext(`${script}; WHENCE_FIGURES(${JSON.stringify(query)})`, {
        PropertiesService: {
          getScriptProperties: () => ({ getProperty: () => KEY.headers.Authorization.slice('Bearer '.length) }),
        },
        UrlFetchApp: {
          fetch: (url: string, { headers }: { headers: Record<string, string> }) => {
            asked.push({ url, headers })
            return { getContentText: () => content }
          },
        },
        Utilities: { parseCsv: recordsIn },
      })
    runWith('')
    const { text } = await ask(asked[0]?.url ?? '', asked[0]?.headers ?? {})
    expect(runWith(text)).to.deep.equal([
      ['value', 'row', 'installs', 'visits'],
      ["'=trap", 'value', '1', '1'],
      ['a "quoted", name', 'value', '1', '1'],
      ['launch', 'value', '1', '1'],
    ])
  })

  it('asks from Excel for CSV that the service answers, with the key in the header', async () => {
    const [query = ''] = blocksOf('powerquery')
    const url = /Web\.Contents\("([^"]+)"/.exec(query)?.[1] ?? ''
    expect(query).to.include('Headers = [Authorization = "Bearer " & Key, Accept = "text/csv"]')
    const told = await ask(url, { ...KEY.headers, Accept: 'text/csv' })
    expect([told.status, told.headers.get('content-type')]).to.deep.equal([200, 'text/csv; charset=utf-8'])
    expect(recordsIn(told.text)).to.have.length(4)
  })

  it('says of the figures what the routes take', async () => {
    const [, table = ''] = /## `GET \/v1\/figures`\n\n([\s\S]*?)\n\n/.exec(page) ?? []
    const names = [...table.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
    expect(names).to.have.members(Object.keys(KEY_ROUTES.keyFigures.query))
    for (const dimension of INSTALLS_BY) expect(table).to.include(`\`${dimension}\``)
  })
})
