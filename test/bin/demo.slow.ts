/** `make demo` is the first thing that many people run: it must work, clean up after itself, and say what is missing. */

import { expect } from 'chai'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from './support/run-whencectl.ts'

const DEMO = new URL('../../bin/demo.ts', import.meta.url).pathname

describe('the demo', function () {
  this.timeout(120_000)
  let temporary: string
  beforeEach(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'whence-demo-test-'))
  })
  afterEach(() => rm(temporary, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  const demo = (env: Readonly<Record<string, string>>) =>
    startProgram(process.execPath, [DEMO, join(temporary, 'pictures')], { TMPDIR: temporary, NO_COLOR: '1', ...env })
      .ended

  it('shows a marker and a token that are matched and delivered, and leaves nothing behind', async () => {
    // Variables set by people and CI must not stop it: all of it stays on this machine.
    const { status, stdout, stderr } = await demo({ DO_NOT_TRACK: '1', CI: 'true' })
    expect({ status, stderr }, stdout).to.deep.equal({ status: 0, stderr: '' })
    expect(stdout).to.include('a marker of 1021 bytes')
    expect(stdout.match(/result +matched: /g)?.length).to.equal(2)
    expect(stdout.match(/acme-ga4 \(ga4\): delivered/g)?.length).to.equal(2)
    expect(stdout).to.match(/--handoff wht_[\w-]{43}/)
    const pictures = await readdir(join(temporary, 'pictures'))
    expect(pictures).to.include.members(['1-checklist.png', '2-funnel.png', '5-install.png', '6-deliveries.png'])
    expect((await readdir(temporary)).filter((name) => name.startsWith('whence-'))).to.deep.equal([])
  })

  it('says how to get a Chromium if there is none', async () => {
    const { status, stdout } = await demo({ CHROMIUM: '/no/such/chromium' })
    expect(status).to.equal(1)
    expect(stdout).to.include('/no/such/chromium').and.to.include('apt install chromium')
  })
})
