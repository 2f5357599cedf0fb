/** No stored text and none from outside controls the terminal of a tool's user, with `--json` or without. */

import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import fc from 'fast-check'

import type { LiveTools } from '../../bin/tools/live.ts'
import { serveTools, type ToolServer } from '../../bin/tools/control.ts'
import { printable, printableJson, printableLines } from '../../common/printable.ts'
import { COMMANDS } from '../../runtime/settings/commands.ts'
import { textLine } from '../../runtime/logger.ts'
import { sourceFiles } from '../tidy/source-files.ts'
import { whencectl } from './support/run-whencectl.ts'

/** Control characters of both sets, line separators, and characters that hide or reverse text; our own line breaks do not count. */
const STEERING =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/
const HOSTILE = 'a\u001b]0;owned\u0007\u009b2J\u202e\u2066\u200b\ufeff\r\u2028z'

/** Every text of a row, so that no column is forgotten; figures stay what they are. */
const hostile = (fields: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.map((name) => [name, /_ms$|status$|^v$/.test(name) ? 1 : HOSTILE]))
const LOG_ROW = hostile(
  'id received_at_ms website organization method path status code duration_ms body body_form'.split(' '),
)
const INSTALL_ROW = {
  ...hostile(
    'received_at_ms website event_id event_type resolution selection_policy visit_id platform arch'.split(' '),
  ),
  verdicts: JSON.stringify([{ verdict: HOSTILE, visitId: HOSTILE, reason: HOSTILE }]),
  deliveries: JSON.stringify([{ destination: HOSTILE, action: HOSTILE, reason: HOSTILE }]),
}
const ACTIVITY_ROW = hostile('id noticed_at_ms organization website type subject message'.split(' '))
const VISIT_ROW = hostile(
  'visit_id website page_url source medium channel campaign visitor_kind received_at_ms'.split(' '),
)
const ATTEMPT_ROW = hostile(
  'destination provider attempt_id request_url request_body response_body started_at_ms error'.split(' '),
)
const JOB_ROW = { website: HOSTILE, event_id: HOSTILE, destination: HOSTILE, status: 'failed' }
const JOB = {
  v: 1,
  jobId: HOSTILE,
  website: HOSTILE,
  organization: HOSTILE,
  destination: HOSTILE,
  provider: 'ga4',
  install: { eventId: HOSTILE, eventType: HOSTILE, receivedAtMs: 1 },
  visit: { visitId: HOSTILE },
  heldFor: HOSTILE,
  attempts: 1,
  deadlineAtMs: Date.now() + 3_600_000,
  createdAtMs: 1,
  dueAtMs: 1,
  unclearSinceMs: null,
}
const LETTER = { v: 1, job: JOB, reason: HOSTILE, failedAtMs: 1 }
const REPORT = {
  ...hostile(
    'website destination provider mode outcome code facility nextStep eventId requestUrl requestBody responseBody'.split(
      ' ',
    ),
  ),
  verdict: 'passed',
  responseStatus: 200,
  durationMs: 1,
}
const ROWS: Readonly<Record<string, readonly unknown[]>> = {
  listLogs: [LOG_ROW],
  listInstallKeys: [INSTALL_ROW],
  listInstalls: [INSTALL_ROW],
  installsByEventId: [INSTALL_ROW],
  listActivity: [ACTIVITY_ROW],
  visitsByIds: [VISIT_ROW],
  deliveriesOfInstall: [ATTEMPT_ROW],
  attemptsOfInstall: [ATTEMPT_ROW],
  dispatchedJobs: [JOB_ROW],
  websitesWithFigures: [{ website: 'acme' }],
  rolledCells: [{ value: HOSTILE, counts: [3, 2, 1, 1, 1, 1] }],
  pageInOrder: [{ records: 1, last_ms: Date.now(), last_id: HOSTILE }],
  installsInOrder: [
    {
      event_id: HOSTILE,
      installation_id: 'i',
      event_type: 'first_run',
      received_at_ms: Date.now() - 60_000,
      resolution: 'matched',
      selection_policy: 'latest_visit',
      visit_id: 'v',
      visit_issued_at_ms: 1,
      verdicts: '[]',
    },
  ],
  longestRetentions: [{ organization: 'acme', website: 'acme', days: 395 }],
  spendImports: [
    {
      organization: 'acme',
      website: 'acme',
      id: 'i',
      imported_at_ms: 1,
      imported_by: '',
      file_name: HOSTILE,
      rows: 1,
      first_day_ms: 0,
      last_day_ms: 0,
      totals: '[{"currency":"EUR","amount":5}]',
      is_removed: false,
      retention_days: 395,
    },
  ],
  sourcesOfVisits: [{ visit_id: 'v', source: HOSTILE }],
}
const MANIFEST = `apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: acme }\nspec: { plan: "${JSON.stringify(HOSTILE).slice(1, -1)}", "x\\u001b\\u009b\\u202e": 1 }\n`

describe('the terminal', function () {
  this.timeout(60_000)
  let folder: string
  let server: ToolServer
  let site: Server

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-terminal-'))
    await mkdir(join(folder, 'data'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'manifests', `b\u009b2J\u202ead.yaml`), MANIFEST)
    const tools = {
      // Of a list in pages there is one.
      run: async (query: string, { after_id: after = '' }: { readonly after_id?: string }) =>
        after === '' ? (ROWS[query] ?? []) : [],
      read: async (_: string, from: number) =>
        from > 0 ? [] : [{ offset: 0, key: 'k', value: JSON.stringify(LETTER) }],
      append: async () => undefined,
      sendTest: async () => ({ kind: 'report', report: REPORT }),
    }
    site = createServer((request, response) => {
      response.writeHead(request.url === '/' ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<script src="/browser.js" data-project="${HOSTILE}"></script>`)
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    server = await serveTools(join(folder, 'data'), tools as unknown as LiveTools)
  })
  after(async () => {
    site.close()
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  const data = () => ['--data', join(folder, 'data')]
  const words: Readonly<Record<string, () => readonly string[]>> = {
    explain: () => ['explain', 'x', ...data()],
    logs: () => ['logs', ...data()],
    installs: () => ['installs', ...data()],
    activity: () => ['activity', ...data()],
    report: () => ['report', ...data()],
    'replay-decisions': () => ['replay-decisions', '--website', 'acme', '--tokens-only', ...data()],
    spend: () => ['spend', 'list', ...data()],
    'dead-letters': () => ['dead-letters', ...data()],
    replay: () => ['replay', '--all', ...data()],
    'send-test': () => ['send-test', 'x', ...data()],
    check: () => ['check', `http://127.0.0.1:${(site.address() as AddressInfo).port}/`, '--no-browser'],
    lint: () => ['lint', '-f', join(folder, 'manifests')],
  }

  const withJson = Object.entries(COMMANDS).filter(([, { flags }]) => '--json' in flags)
  for (const [name] of withJson)
    it(`is not controlled by ${name} --json, and a program still reads what was stored`, async () => {
      const { stdout, stderr } = await whencectl([...(words[name]?.() ?? []), '--json'])
      expect(stdout + stderr).to.not.match(STEERING)
      const values = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line): unknown => JSON.parse(line))
      expect(values.length, stderr).to.be.greaterThan(0)
      const texts = JSON.stringify(values)
      expect(texts).to.contain(name === 'lint' ? '\u009b' : JSON.stringify(HOSTILE).slice(1, -1))
    })

  for (const [name] of withJson.filter(([each]) => each !== 'explain'))
    it(`is not controlled by ${name} without --json`, async () => {
      const { stdout, stderr } = await whencectl(words[name]?.() ?? [])
      expect(stdout + stderr).to.not.match(STEERING)
      expect(stdout).to.contain('\uFFFD')
    })

  it('is not controlled by the error message of a tool', async () => {
    const { status, stdout, stderr } = await whencectl(['logs', '--data', join(folder, 'no\u009b2J\u202ewhere')])
    expect(status).to.equal(1)
    expect(stderr).to.contain('there is no data in').and.contain('\uFFFD')
    expect(stdout + stderr).to.not.match(STEERING)
  })

  it('is written to only by the one module that escapes', () => {
    const files = sourceFiles(['bin'], ['.ts']).filter(({ path }) => !path.startsWith('bin/demo'))
    expect(files.length).to.be.greaterThan(20)
    const writers = files.filter(({ text }) => /process\.std(out|err)\.write|console\.\w+\(/.test(text))
    expect(writers.map(({ path }) => path)).to.deep.equal(['bin/terminal/output.ts'])
  })

  it('is not controlled by any text, and JSON keeps its meaning', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '"', '\\', 'é', '\u{1F600}', ...HOSTILE) })
    fc.assert(
      fc.property(text, (given) => {
        expect(printable(given)).to.not.match(/\n/).and.not.match(STEERING)
        expect(printableLines(given)).to.not.match(STEERING)
        const json = printableJson(JSON.stringify({ [given]: given }))
        expect(json).to.not.match(STEERING)
        expect(JSON.parse(json)).to.deep.equal({ [given]: given })
        const line = JSON.stringify({ time: '2026-11-21T00:00:00Z', level: 'info', msg: given, field: given })
        expect(textLine(line).slice(0, -1)).to.not.match(/\n/).and.not.match(STEERING)
      }),
    )
  })
})
