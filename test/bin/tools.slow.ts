/** The tools as people run them: against a running service, and on its data if none is running. */

import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { connectTools, serveTools } from '../../bin/tools/control.ts'
import { openFolders } from '../../bin/tools/folders.ts'
import type { ToolBackend } from '../../bin/tools/live.ts'
import { encodeRecord } from '../../domain/records.ts'
import { installRecord, requestRecord, rowsOf as rowsOfRecords } from '../contract/fact-samples.ts'
import { activeReceipt, eventBody, newId, post, visitBody } from '../../fixtures/service/requests.ts'
import { startTestService, TEST_ORIGIN, type TestService } from '../../fixtures/service/service.ts'
import { shell, startWhencectl, whencectl, type Ran } from './support/run-whencectl.ts'

/** What must never reach a terminal from a stored text; newlines are ours. */
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u
const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e'
const PATIENCE_TRIES = 400
const PAUSE_MS = 50

describe('the tools', function () {
  this.timeout(60_000)
  let folder: string
  let service: TestService
  let data: string[]
  const ids = { matched: newId(), replaced: newId(), failing: newId() }
  const beganAtMs = Date.now()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-tools-'))
    service = await startTestService({ folder })
    data = ['--data', join(folder, 'data')]
    await fill(service, ids)
  })
  after(async () => {
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** What the tools have printed for people so far. */
  const printed: string[] = []
  const tool = async (...words: readonly string[]): Promise<Ran> => {
    const ran = await whencectl([...words, ...data])
    if (!words.includes('--json')) printed.push(ran.stdout, ran.stderr)
    return ran
  }
  const rowsOf = ({ stdout }: Ran): Record<string, any>[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const good = (ran: Ran): Ran => {
    expect(ran, ran.stderr).to.include({ status: 0 })
    return ran
  }

  it('show which visit an install came from, and why', async () => {
    const { stdout } = good(await tool('explain', ids.matched))
    for (const words of [
      'matched: the newest candidate',
      `${TEST_ORIGIN}/install`,
      'newsletter',
      'acme-ga4',
      'delivered',
    ]) {
      expect(stdout).to.include(words)
    }
    expect(stdout).to.match(/-> visit [0-9a-f]{32} of .*: active, a candidate/)
  })

  it('show why an install was not matched', async () => {
    const { stdout } = good(await tool('explain', ids.replaced))
    expect(stdout).to.include('unmatched').and.to.include('revoked, a newer visit replaced it')
    expect(stdout).to.include('forged, it was not issued by this service')
  })

  it('explain the newest install if none is named, and say if there is none', async () => {
    expect(good(await tool('explain')).stdout).to.include(`Install ${ids.failing}`)
    const unknown = await tool('explain', 'no-such-event')
    expect(unknown).to.include({ status: 1, stdout: '' })
    expect(unknown.stderr).to.include('no recorded install has this event ID')
    expect((await tool('explain', ids.matched, '--website', 'other')).status).to.equal(1)
  })

  it('give all of it as JSON', async () => {
    const [explanation] = rowsOf(good(await tool('explain', ids.matched, '--json')))
    expect(explanation).to.have.keys(
      'install',
      'unread',
      'verdicts',
      'plans',
      'visits',
      'installationsOfVisit',
      'deliveries',
      'attempts',
    )
    expect(explanation?.['deliveries'][0].status).to.equal('delivered')
  })

  it('list installs with the pages they came from, the newest last', async () => {
    const { stdout } = good(await tool('installs'))
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).to.match(/^TIME \(UTC\) +WEBSITE +EVENT ID +TYPE +RESOLUTION +POLICY +CAME FROM$/)
    expect(lines.at(-1)).to.include(ids.failing)
    expect(lines.find((line) => line.includes(ids.matched))).to.match(
      /matched +latest_visit +https:\/\/acme\.dev\/install, newsletter \/ launch$/,
    )
    expect(lines.find((line) => line.includes(ids.replaced))).to.match(/unmatched +none +-$/)
  })

  it('report figures by source, agent or day, as a table, CSV or JSON, and have them counted again', async () => {
    const [row] = rowsOf(good(await tool('report', '--by', 'day', '--json')))
    expect(row?.['day']).to.match(/^20\d\d-\d\d-\d\d$/)
    expect(row?.['visits']).to.be.greaterThan(0)
    const { stdout } = good(await tool('report', '--website', 'acme-dev'))
    expect(stdout)
      .to.match(
        /^VISITS +COPIED +INSTALLS +MATCHED +UNMATCHED +PENDING +COUNTED +KNOWN SOURCE +COMPLETED +RAN +UPGRADES +REINSTALLS +SOURCE\n/,
      )
      .and.to.include('newsletter')
    const csv = good(await tool('report', '--by', 'path', '--csv')).stdout.split('\n')
    expect(csv[0]).to.equal(
      'path,row,visits,copied,installs,matched,unmatched,pending,counted,known_source,completed,ran,upgrades,reinstalls',
    )
    expect(csv[1]).to.match(/^cli,value,,,[1-9]\d*,/)
    expect(csv.at(-2)).to.match(/^,total,\d+,/)
    expect(await tool('report', '--by', 'password')).to.deep.include({ status: 2, stdout: '' })
    expect(good(await tool('report', '--website', 'no-such-website')).stdout).to.equal('')
    expect(good(await tool('rebuild-rollups', '--since', '2d')).stdout).to.match(/^Marked [1-9]\d* hours/)
  })

  it('leave out of figures what came after a period that ends at a full hour', async () => {
    const hour = new Date(beganAtMs - (beganAtMs % 3_600_000)).toISOString()
    const until = good(await tool('report', '--by', 'path', '--until', hour))
    expect(until).to.include({ stdout: '', stderr: 'There are no figures to show.\n' })
    expect(good(await tool('report', '--by', 'path', '--since', hour)).stdout).to.include('cli')
  })

  it('refuse flags that can find nothing, with the reason', async () => {
    const refusals: readonly (readonly [words: string, reason: string])[] = [
      ['installs --since 1d --until 2d', '--since must be before --until'],
      ['logs --since 1d --until 2d', '--since must be before --until'],
      ['logs --reference a,b,c,d,e,f', '--reference must be 1 to 5 IDs with commas between them'],
      ['logs --follow --until 1h', '--follow shows rows as they come'],
      ['report --csv --json', 'give either --csv or --json'],
      ['replay-decisions --website no-such-website', '--website must name one of acme-dev'],
    ]
    for (const [words, reason] of refusals) {
      const ran = await tool(...words.split(' '))
      expect(ran, words).to.include({ status: 2, stdout: '' })
      expect(ran.stderr, words).to.include(reason)
    }
    const contradiction = good(await tool('logs', '--kind', 'delivery', '--direction', 'inbound'))
    expect(contradiction.stderr).to.include('No line fits all flags')
    const none = good(await tool('report', '--website', 'no-such-website'))
    expect(none.stderr).to.equal(
      'There are no figures of no-such-website to show.\nWebsites that have figures: acme-dev.\n',
    )
    const requests = good(await tool('logs', '--status', '3xx'))
    const inbound = ['--direction', 'inbound']
    expect(requests.stderr).to.equal(
      'There is no request to show. Attempts at delivery are listed with --direction outbound.\n',
    )
    expect(good(await tool('logs', '--status', '3xx', ...inbound)).stderr).to.equal('There is no request to show.\n')
  })

  it('decide installs again under another policy, and say which would change', async () => {
    const [none] = rowsOf(good(await tool('replay-decisions', '--website', 'acme-dev', '--json')))
    expect(none).to.deep.include({ website: 'acme-dev', changed: 0, changes: [] })
    expect(none?.['matched']).to.be.greaterThan(0).and.to.equal(none?.['replayedMatched'])
    const { stdout } = good(await tool('replay-decisions', '--website', 'acme-dev', '--tokens-only'))
    expect(stdout).to.match(/matched: \d+ as decided, 0 under this policy/)
    expect(stdout).to.match(/LOST +GAINED +SOURCE\n(?:.+\n)*1 +0 +newsletter\n/)
    expect(stdout)
      .to.include(ids.matched)
      .and.to.match(/latest_visit, newsletter +unmatched\n/)
    for (const words of [
      ['--policy', 'best'],
      ['--window', '31'],
      ['--since', '1d', '--until', '2d'],
    ]) {
      expect(await tool('replay-decisions', '--website', 'acme-dev', ...words)).to.include({ status: 2, stdout: '' })
    }
  })

  it('import ad spend whole or not at all, list imports, and remove one', async () => {
    const file = join(folder, 'november.csv')
    const day = new Date(beganAtMs - 86_400_000).toISOString().slice(0, 10)
    await writeFile(file, `Day,Campaign,Cost\n${day},launch,12.50\n${day},launch,"1,5"\nyesterday,launch,1\n`)
    const words = ['--columns', 'day=Day,campaign=Campaign,amount=Cost', '--source', 'newsletter', '--currency', 'EUR']
    const imported = (...more: readonly string[]): Promise<Ran> => tool('spend', 'import', file, ...words, ...more)
    const list = async (): Promise<readonly unknown[]> => rowsOf(good(await tool('spend', 'list', '--json')))
    const refused = await imported('--website', 'acme-dev')
    expect(refused).to.include({ status: 1, stdout: '' })
    expect(refused.stderr.split('\n')).to.deep.equal([
      `${file}:3: Cost must be digits with a point before decimals, such as 1234.50: no sign, exponent or separator of thousands`,
      `${file}:4: Day must be a day such as 2026-11-30`,
      'Nothing was imported.',
      '',
    ])
    await writeFile(file, `Day,Campaign,Cost\n${day},launch,12.50\n${day},,0.7\n`)
    const told = good(await imported('--website', 'acme-dev')).stdout
    expect(told).to.match(/^[0-9a-f]{28}: 2 rows of [-0-9]{10} for acme-dev, 13\.20 EUR\n$/)
    const id = told.slice(0, 28)
    await until(list, (rows) => rows.length > 0)
    expect(await list()).to.have.length(1)
    expect(good(await tool('spend', 'list')).stdout).to.match(
      new RegExp(`^ID .*\\n${id} .* acme-dev +2 +${day} +13\\.20 EUR +november\\.csv\\n$`),
    )
    expect(good(await tool('spend', 'remove', id)).stdout).to.equal(
      `${id} is removed: what it had replaced counts again\n`,
    )
    await until(list, (rows) => rows.length === 0)
    expect(await tool('spend', 'remove', id)).to.include({ status: 1, stdout: '' })
    for (const wrong of [
      ['spend', 'export'],
      ['spend', 'import'],
      ['spend', 'import', join(folder, 'nowhere.csv')],
      ['spend', 'import', file, '--currency', 'euro'],
      ['spend', 'import', file, '--columns', 'date=Day'],
    ])
      expect(await tool(...wrong)).to.include({ status: 1, stdout: '' })
    const foreign = await imported('--website', 'no-such-website')
    expect(foreign).to.deep.include({ status: 2, stderr: '--website must name one of acme-dev\n' })
  })

  it('list requests with their answers, refused ones too', async () => {
    const { stdout } = good(await tool('logs'))
    expect(stdout).to.match(/POST \/v1\/events +- +200 +ok/)
    expect(stdout).to.match(/POST \/v1\/events +- +404 +website_not_found/)
    expect(stdout).to.match(/POST \/v1\/visits +https:\/\/\S+ +403 +origin_not_allowed/)
  })

  it('list a request of the dashboard that a rate refused, as one of no website', async () => {
    const record = {
      ...requestRecord({ organization: 'acme', website: '', status: 429 }),
      isOfDashboard: true as const,
    }
    const tools = await connectTools(join(folder, 'data'))
    await tools?.append('requests', [{ key: record.request.id, value: encodeRecord(record) }])
    const own = async () => rowsOf(good(await tool('logs', '--kind', 'dashboard', '--organization', 'acme', '--json')))
    const [shown] = await until(own, (rows) => rows.length > 0)
    expect(shown).to.include({ id: record.request.id, kind: 'dashboard', website: '' })
    expect(good(await tool('logs', '--kind', 'dashboard')).stdout).to.match(/ - +POST \/v1/)
  })

  it('narrow Logs to status, code, path, kind, origin, reference, text and time, and show attempts at delivery', async () => {
    const lines = async (...words: readonly string[]) => rowsOf(good(await tool('logs', '--json', ...words)))
    const all = await lines('--limit', '200')
    for (const [flag, value, fits] of [
      ['--status', '4xx', ({ status }) => status >= 400 && status < 500],
      ['--kind', 'install', ({ kind }) => kind === 'install'],
      ['--origin', TEST_ORIGIN, ({ origin }) => origin === TEST_ORIGIN],
      ['--text', ids.matched, ({ body }) => body.includes(ids.matched)],
    ] satisfies [string, string, (row: Record<string, any>) => boolean][]) {
      const wanted = all.filter(fits).map(({ id }) => id)
      expect(wanted, flag).to.have.length.within(1, all.length - 1)
      expect(
        (await lines('--limit', '200', flag, value)).map(({ id }) => id),
        flag,
      ).to.deep.equal(wanted)
    }
    const ofEvent = await lines('--reference', `${newId()},${ids.matched}`)
    expect(ofEvent.some(({ body }) => body.includes(ids.matched))).to.equal(true)
    expect(ofEvent.length).to.be.lessThan(all.length)
    expect(await lines('--since', '2000-01-01', '--until', '2001-01-01')).to.have.lengthOf(0)
    expect(good(await tool('logs', '--direction', 'outbound')).stdout).to.match(/DESTINATION +STATUS +CODE/)
    const attempts = await lines('--direction', 'outbound', '--reference', ids.failing)
    expect(attempts.map((row) => row['event_id'])).to.include(ids.failing)
    // No attempt at delivery has such a kind, or an origin.
    expect(await lines('--direction', 'outbound', '--kind', 'visit')).to.have.lengthOf(0)
    expect(await lines('--direction', 'outbound', '--origin', TEST_ORIGIN)).to.have.lengthOf(0)
    for (const words of [
      ['--status', '20'],
      ['--kind', 'bill'],
      ['--direction', 'up'],
      ['--since', 'once'],
    ]) {
      expect(await tool('logs', ...words)).to.include({ status: 2, stdout: '' })
    }
    expect((await tool('logs', '--reference', 'a'.repeat(43))).stderr).to.include('search for the ID of the visit')
  })

  it('narrow installs to what they are and where they came from, and give the page and UTM as JSON', async () => {
    const found = async (...words: readonly string[]) =>
      rowsOf(good(await tool('installs', '--json', ...words))).map((row) => row['event_id'])
    const [matched] = rowsOf(
      good(await tool('installs', '--json', '--source', 'newsletter', '--resolution', 'matched')),
    )
    expect(matched?.['visit']).to.include({ page_url: `${TEST_ORIGIN}/install`, campaign: 'launch' })
    expect(await found('--campaign', 'launch'))
      .to.include(ids.matched)
      .and.not.to.include(ids.replaced)
    expect(await found('--page', `${TEST_ORIGIN}/install`, '--organization', 'acme')).to.include(ids.matched)
    expect(await found('--resolution', 'unmatched', '--since', '1d')).to.include(ids.replaced)
    expect(await found('--policy', 'handoff')).not.to.include(ids.matched)
    const [unmatched] = rowsOf(good(await tool('installs', '--json', '--resolution', 'unmatched')))
    expect(unmatched?.['verdicts']).to.be.an('array')
    expect(unmatched?.['answer']).to.include({ ok: true, resolution: 'unmatched' })
    expect(unmatched?.['visit']).to.equal(null)
    expect(await tool('installs', '--resolution', 'lost')).to.include({ status: 2, stdout: '' })
    const refused = await tool('installs', '--policy', 'handoff_token')
    expect(refused).to.include({ status: 2, stdout: '' })
    expect(refused.stderr).to.match(/--policy must be one of .*first_visit, handoff, /)
  })

  it('list what people should notice, of one organisation or of all', async () => {
    await writeFile(join(folder, 'manifests', 'other.yaml'), OTHER_MANIFEST)
    // Repeats leave no install behind, and count in the limit of 30 a minute.
    const repeated = eventBody({ event_id: ids.matched })
    for (let sent = 0; sent <= 30; sent++) await post(`${service.url}/v1/events`, repeated)
    service.advance(60_000)
    /** Beside the objects that were there from the beginning. */
    const noticed = (rows: readonly Record<string, any>[]) =>
      rows.filter(({ type }) => type !== 'object_created' && type !== 'destination_live')
    const all = await until(
      async () => rowsOf(good(await tool('activity', '--json'))),
      (rows) => noticed(rows).length >= 5,
    )
    expect(all.map(({ type }) => type)).to.include.members(['object_created', 'destination_live'])
    expect(noticed(all).map(({ type }) => type)).to.have.members([
      'spend_imported',
      'spend_removed',
      'origin_not_registered',
      'catalog_problem',
      'rate_limit_reached',
    ])
    const ofAcme = noticed(rowsOf(good(await tool('activity', '--organization', 'acme', '--json'))))
    expect(ofAcme.map(({ type }) => type)).to.have.members([
      'spend_imported',
      'spend_removed',
      'rate_limit_reached',
      'origin_not_registered',
      'catalog_problem',
    ])
    const limit = ofAcme.find(({ type }) => type === 'catalog_problem')
    expect(limit).to.include({ subject: 'InstallPath/other' })
    expect(limit?.['message']).to.match(/plan/)
    expect(good(await tool('activity')).stdout).to.include('ORGANIZATION')
  })

  it('give rows as JSON, one a line, as many as are asked for', async () => {
    const rows = rowsOf(good(await tool('logs', '--json', '--limit', '3')))
    expect(rows.length).to.equal(3)
    expect(rows.map(({ received_at_ms: atMs }) => atMs)).to.deep.equal(rows.map((row) => row['received_at_ms']).sort())
    expect(
      rowsOf(good(await tool('logs', '--json', '--website', 'acme-dev', '--organization', 'acme'))).length,
    ).to.be.greaterThan(3)
    const none = good(await tool('installs', '--website', 'no-such-website'))
    expect(none).to.include({ stdout: '', stderr: 'There is no install to show.\n' })
    expect(await tool('installs', '--limit', '201')).to.deep.include({ status: 2, stdout: '' })
  })

  it('let nothing that was stored control the terminal', () => {
    expect(printed.join('')).to.include('�')
    expect(printed.join('')).to.not.match(STEERING)
  })

  it('do not fail when their reader closes the pipe', async () => {
    const { status, stderr } = await shell(`$WHENCE logs --json ${data.join(' ')} | head -n 1 >/dev/null`)
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
  })

  it('show failed deliveries and send them again', async () => {
    const letters = rowsOf(good(await tool('dead-letters', '--json')))
    expect(letters.map(({ install }) => install.eventId)).to.deep.equal([ids.failing])
    const [letter] = letters
    expect(letter).to.include({ reason: 'refused: http_400', now: 'failed', destination: 'acme-ga4' })
    expect(letter).to.not.have.property('visit')
    expect(rowsOf(good(await tool('dead-letters', '--json', '--reason', 'expired')))).to.deep.equal([])
    expect(rowsOf(good(await tool('dead-letters', '--json', '--since', '1h', '--until', '2100-01-01')))).to.have.length(
      1,
    )
    expect(rowsOf(good(await tool('dead-letters', '--json', '--until', '2026-01-01T00:00')))).to.deep.equal([])
    expect(await tool('dead-letters', '--since', 'yesterday')).to.deep.include({ status: 2, stdout: '' })
    expect((await tool('replay')).status).to.equal(2)
    expect((await tool('replay', '--all', '--rate', '0')).status).to.equal(2)
    expect(await tool('replay', '--all', '--until', '1d')).to.deep.include({ status: 1, stdout: '' })
    expect(await tool('replay', '--all', '--destination', 'other')).to.deep.include({ status: 1, stdout: '' })

    const replayed = good(await tool('replay', letter?.['jobId']))
    expect(replayed.stdout).to.include('1 replayed, 0 not')
    await service.drain()
    const again = await tool('replay', '--all')
    expect(again.status).to.equal(1)
    expect(again.stdout).to.include('its status is not failed')
    expect(good(await tool('dead-letters')).stdout).to.match(/delivered +refused: http_400$/m)
  })

  it('show and replay failed deliveries beside others that cannot be read, and give the offsets of those', async () => {
    const [first] = await service.eventLog.read('dead-letters', 0, 1)
    await service.eventLog.append('dead-letters', [
      { key: 'k', value: '{"v":1,"job":' },
      { key: 'k', value: '{"v":2}' },
    ])
    const listed = good(await tool('dead-letters', '--json'))
    expect(rowsOf(listed).map(({ install }) => install.eventId)).to.deep.equal([ids.failing])
    const offset = (first?.offset ?? 0) + 1
    expect(listed.stderr).to.equal(
      `2 dead letters cannot be read and were left out (offsets ${offset}, ${offset + 1}); a later release wrote 1 of them and can read them\n`,
    )
    const replayed = await tool('replay', '--all')
    expect(replayed.stdout).to.include('its status is not failed')
    expect(replayed.stderr).to.include('2 dead letters cannot be read')
  })

  it('explain an install whose row is damaged, and say what is left out', async () => {
    const rows = rowsOfRecords([installRecord({ website: 'acme-dev', eventId: 'event-damaged' })]).get('installs') ?? []
    const damaged = rows.map((row) => ({ ...row, verdicts: '[{', deliveries: '' }))
    await service.facts.insert('installs', damaged)
    const { stdout } = good(await tool('explain', 'event-damaged'))
    expect(stdout).to.include('Install event-damaged')
    for (const column of ['verdicts', 'deliveries']) {
      expect(stdout).to.include(`What ClickHouse keeps as ${column} of this install is damaged and left out.`)
    }
  })

  it('check a folder of manifests as the service would', async () => {
    const fine = await whencectl(['lint', '-f', new URL('../../examples/quickstart', import.meta.url).pathname])
    expect(fine).to.include({ status: 0, stderr: '' })
    const broken = await whencectl(['lint', '--manifests', join(folder, 'manifests')])
    expect(broken.status).to.equal(1)
    expect(broken.stdout).to.match(/^other\.yaml, document 1, line \d+: /)
    const [problem] = rowsOf(await whencectl(['lint', '-f', join(folder, 'manifests'), '--json']))
    expect(problem).to.include.keys('object', 'source', 'field', 'reason', 'message')
  })

  it('name the process that uses the data if they need it exclusively', async () => {
    const refused = await tool('migrate')
    expect(refused.status).to.equal(1)
    expect(refused.stderr).to.match(/in use by process \d+/)
  })

  it('show new lines with --follow, and end with the service', async () => {
    const following = startWhencectl(['installs', '--follow', '--limit', '1', ...data])
    await until(
      () => following.stdout(),
      (text) => text.includes(ids.failing),
    )
    const event = eventBody({ event_type: 'first_run' })
    await post(`${service.url}/v1/events`, event)
    await until(
      () => following.stdout(),
      (text) => text.includes(event['event_id']),
    )
    expect(following.stdout().match(/TIME \(UTC\)/g)?.length).to.equal(1)
    await service.stop()
    const { status, stderr } = await following.ended
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: 'whencectl installs: the service has stopped\n' })
  })

  describe('when no service runs', () => {
    it('open its data themselves', async () => {
      expect(good(await tool('explain', ids.matched)).stdout).to.include('delivered')
      expect(good(await tool('installs')).stdout).to.include(ids.matched)
      expect(good(await tool('logs', '--limit', '1')).stdout).to.include('POST')
      expect(good(await tool('dead-letters')).stdout).to.include(ids.failing)
      expect(good(await tool('migrate')).stdout).to.equal('Everything is up to date.\n')
    })

    it('cancel a replay that waits, with an entry of the activity that the role will find', async () => {
      const stores = () => openFolders(join(folder, 'data', 'lmdb'), join(folder, 'data', 'chdb'))
      const none = await tool('replay-decisions', '--cancel', 'no-such-replay')
      expect([none.status, none.stdout]).to.deep.equal([1, ''])
      expect(none.stderr).to.include('no replay with the ID no-such-replay waits or runs')
      const { facts, close } = await stores()
      const place = { log_topic: 'replays', log_partition: 0, log_offset: 0, row_version: 1, retention_days: 7 }
      const replay = { ...place, id: 'replay-one', organization: 'acme', website: 'acme-dev', asked_at: Date.now() }
      const wish = { policy: 'first_visit', window_ms: 1, is_tokens_only: false, session: '', since: 0, until: 1 }
      await facts.insert('decision_replays', [{ ...replay, ...wish }])
      await close()
      const ran = good(await tool('replay-decisions', '--cancel', replay.id))
      expect(ran.stdout).to.equal('replay-one is cancelled when the service runs\n')
      const after = await stores()
      const entries = await after.eventLog.read('activity', 0, 1_000)
      await after.close()
      const found = entries.filter(({ value }) => value.toString().includes('Replay/replay-one'))
      expect(found).to.have.lengthOf(1)
    })

    it('import ad spend that counts once the service runs', async () => {
      const file = join(folder, 'late.csv')
      const day = new Date(beganAtMs - 86_400_000).toISOString().slice(0, 10)
      await writeFile(file, `day,source,campaign,amount,currency\n${day},x,launch,1,EUR\n`)
      const ran = good(await tool('spend', 'import', file))
      expect(ran.stderr).to.equal('It counts when the service runs.\n')
      const { eventLog, close } = await openFolders(join(folder, 'data', 'lmdb'), join(folder, 'data', 'chdb'))
      const entries = await eventLog.read('spend', 0, 100)
      await close()
      expect(entries.filter(({ key }) => key.endsWith(ran.stdout.slice(0, 28)))).to.have.length(2)
    })

    it('refuse --follow, because nothing new could come', async () => {
      const { status, stderr } = await tool('logs', '--follow')
      expect(status).to.equal(1)
      expect(stderr).to.include('needs a running service')
    })

    it('create no data folder if there is none', async () => {
      const { status, stderr } = await whencectl(['installs', '--data', join(folder, 'elsewhere')])
      expect(status).to.equal(1)
      expect(stderr).to.include('there is no data in')
      expect((await shell(`ls ${folder}`)).stdout).to.not.include('elsewhere')
    })
  })
})

describe('the socket of the tools', () => {
  it('works in a folder whose path is longer than an address may be, and leaves nothing behind', async () => {
    const root = await mkdtemp(join(tmpdir(), 'whence-socket-'))
    const data = join(root, 'long-name-'.repeat(12), 'data')
    await mkdir(data, { recursive: true })
    const answers = { run: async () => ['row'], read: async () => [], append: async () => undefined }
    expect(await connectTools(data)).to.equal(null)
    const server = await serveTools(data, answers as unknown as ToolBackend)
    const tools = await connectTools(data)
    expect(await tools?.run('counts', {})).to.deep.equal(['row'])
    await server.close()
    expect(await connectTools(data)).to.equal(null)
    expect((await shell(`find '${data}' -type f -o -type s`)).stdout).to.equal('')
    await rm(root, { recursive: true })
  })
})

/** A few of everything: matched, unmatched, refused, hostile, and failed for good. */
async function fill(
  service: TestService,
  ids: Readonly<Record<'matched' | 'replaced' | 'failing', string>>,
): Promise<void> {
  const events = `${service.url}/v1/events`
  const older = await activeReceipt(service.url)
  await post(events, eventBody({ event_id: ids.matched, receipts: [older], language: 'en' }))
  await service.drain()
  const source = { utm: { source: `evil${HOSTILE}`, campaign: 'キャンペーン' } }
  const newer = await activeReceipt(service.url, { previous_receipt: older, source })
  await post(events, eventBody({ event_id: ids.replaced, receipts: [older, 'A'.repeat(43)] }))
  await post(events, eventBody({ project: 'no-such-website' }))
  await post(events, `{"broken": "${HOSTILE}`)
  await post(`${service.url}/v1/visits`, visitBody(), 'https://elsewhere.example')
  service.ga4.fail('*', { kind: 'status', status: 400, body: HOSTILE })
  await post(events, eventBody({ event_id: ids.failing, receipts: [newer] }))
  await service.drain()
  service.ga4.fail('*', null)
}

/** Standard has room for one install path: this one is left out, which is reported as a problem. */
const OTHER_MANIFEST = `
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: other }
spec: { organizationRef: { name: acme }, displayName: Other }
`

async function until<T>(ask: () => T | Promise<T>, isEnough: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask()
    if (isEnough(answer)) return answer
    if (tries === PATIENCE_TRIES) throw new Error(`it did not happen: ${JSON.stringify(answer)}`)
    await wait(PAUSE_MS)
  }
}
