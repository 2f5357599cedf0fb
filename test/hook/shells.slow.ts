/** The hook reports the same, byte for byte, from every shell and in every situation. */

import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FIXTURES, type Fixture } from './support/fixtures.ts'
import { buildHome, receipt, type Home } from './support/home.ts'
import { startRecorder, type Recorded, type Recorder } from './support/recorder.ts'
import {
  isInstalled,
  run,
  servedScript,
  SHELLS,
  temporaryFolder,
  VARIANTS,
  type Outcome,
  type Shell,
} from './support/shells.ts'

const SHELLS_HERE = SHELLS.filter(({ argv }) => isInstalled(argv[0]))

describe('hook: every shell reports the same', () => {
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  it('finds all the shells it promises to run in', () => {
    if (process.env['CI'] !== 'true' && SHELLS_HERE.length < SHELLS.length) return
    expect(SHELLS_HERE).to.deep.equal(SHELLS)
  })

  it('meets at least 60 situations', () => {
    expect(new Set(FIXTURES.map(({ name }) => name)).size)
      .to.equal(FIXTURES.length)
      .and.to.be.least(60)
  })

  FIXTURES.forEach((fixture, index) => {
    it(fixture.name, async () => {
      const home = buildHome(join(folder.path, `f${index}`, 'home'))
      const arranged = fixture.arrange?.(home) ?? {}
      const runIn = (shell: Shell, position: number): Promise<Outcome> =>
        run({
          shell,
          script: servedScript({ ...fixture.values, baseUrl: addressOf(recorder, fixture, `f${index}-${position}`) }),
          args: fixture.args ?? ['install_completed'],
          env: environmentOf(fixture, home, { TMPDIR: join(folder.path, 'tmp'), TZ: 'Europe/Oslo', ...arranged }),
        })
      const shells = SHELLS_HERE.filter(
        ({ name }) => !fixture.notIn?.includes(name) && (index % 3 === 0 || !VARIANTS.includes(name)),
      )
      const outcomes = await Promise.all(shells.map(runIn))
      for (const [position, outcome] of outcomes.entries()) checkOutcome(fixture, outcome, shells[position]?.name)
      const sent = shells.map((_, position) => recorder.under(`/f${index}-${position}`))
      checkRequests(fixture, sent)
      expect(existsSync(join(folder.path, 'x')), 'something was executed').to.equal(false)
    })
  })
})

function addressOf(recorder: Recorder, fixture: Fixture, name: string): string {
  return `${recorder.baseUrl}/${name}${fixture.values?.baseUrl ?? ''}`
}

function environmentOf(
  fixture: Fixture,
  home: Home,
  more: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = { HOME: home.path, ...more, ...fixture.env }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function checkOutcome(fixture: Fixture, { status, stdout, stderr }: Outcome, shell = ''): void {
  expect({ status, stdout }, shell).to.deep.equal({ status: 0, stdout: '' })
  // Some shells complain by themselves, before they read a script, about a language that the machine does not have.
  const said = stderr.replace(/^.*setlocale: .*\n/gm, '')
  if (fixture.says === undefined) expect(said, shell).to.equal('')
  else expect(said, shell).to.match(fixture.says)
}

function checkRequests(fixture: Fixture, sent: readonly (readonly Recorded[])[]): void {
  if (fixture.receipts === null) {
    expect(sent.flat()).to.deep.equal([])
    return
  }
  expect(sent.map((requests) => requests.length)).to.deep.equal(sent.map(() => 1))
  const requests = sent.flat()
  for (const { complaints, body, rawHeaders } of requests) {
    expect(complaints).to.deep.equal([])
    expect(body['receipts']).to.deep.equal(fixture.receipts.map(receipt))
    for (const [name, value] of Object.entries(fixture.body ?? {})) expect(body[name], name).to.deep.equal(value)
    const userAgent = rawHeaders[rawHeaders.indexOf('User-Agent') + 1]
    if (fixture.userAgent !== undefined) expect(userAgent).to.equal(fixture.userAgent)
  }
  expect(new Set(requests.map(withoutChance)).size, requests.map(withoutChance).join('\n')).to.equal(1)
  expect(new Set(requests.map(({ body }) => body['event_id'])).size, 'event IDs').to.equal(requests.length)
}

/** Headers and body with the random IDs replaced. */
function withoutChance({ rawHeaders, text }: Recorded): string {
  return `${rawHeaders.join('\n')}\n${text}`.replace(/("(?:event|installation)_id":)"[A-Za-z0-9_-]{32}"/g, '$1"?"')
}
