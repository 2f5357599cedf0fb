/** A browser full of other websites' files: the marker is found, and no more files are opened than promised. */

import { expect } from 'chai'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '../../domain/limits.ts'
import { buildHome, CHROME, chromiumName, marker, receipt } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import { HOOK_SOURCE, programPath, REAL_PATH, run, servedScript, temporaryFolder } from './support/shells.ts'

describe('hook: many files', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  const FILES = 20_000

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  /** Fills a profile with `count` files of one content, as names of one file: that costs no space. */
  function fill(profile: string, count: number, content: string): void {
    const original = join(profile, 'original')
    mkdirSync(profile, { recursive: true })
    writeFileSync(original, content)
    for (let number = 0; number < count; number++) {
      // File systems allow some ten thousands of names for a file; a hundred folders share them.
      const name = join(profile, 'File System', chromiumName(1_000_000 + number))
      if (number < 1_000 || number % 100 === 0) mkdirSync(join(name, '..'), { recursive: true })
      try {
        linkSync(original, name)
      } catch {
        mkdirSync(join(name, '..'), { recursive: true })
        linkSync(original, name)
      }
    }
    rmSync(original)
  }

  async function report(
    home: string,
    time: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly receipts: unknown; readonly stderr: string }> {
    const sent = recorder.all.length
    const script = servedScript({ baseUrl: recorder.baseUrl })
    const { stderr } = await run({ script, args: ['install_completed', '--explain'], env: { HOME: home, ...time } })
    return { receipts: recorder.all[sent]?.body['receipts'], stderr }
  }

  it('finds its marker among 20,000 files of other sizes, and opens that one alone', async () => {
    const home = buildHome(join(folder.path, 'other-sizes'))
    fill(join(home.path, CHROME, 'Default'), FILES, 'x'.repeat(5_000))
    home.chromium(`${CHROME}/Profile 1`, 1, marker(1))
    const { receipts, stderr } = await report(home.path)
    expect(receipts).to.deep.equal([receipt(1)])
    expect(stderr).to.include('opened 1 files')
  })

  it('opens no more than 20,000 files, however many look right, and stops if they are slow to read', async () => {
    const home = buildHome(join(folder.path, 'same-size'))
    fill(join(home.path, CHROME, 'Default'), FILES + 500, 'x'.repeat(1_021))
    const { receipts, stderr } = await report(home.path)
    expect(receipts).to.deep.equal([])
    expect(stderr).to.include(`opened ${FILES} files`)

    // Read at a second for 500 files they would take 41 seconds.
    const slow = join(folder.path, 'slow')
    const log = join(folder.path, 'log')
    mkdirSync(slow)
    const grep = `#!/bin/sh\necho >>${log}\n${programPath('sleep')} 1\nexec ${programPath('grep')} "$@"\n`
    writeFileSync(join(slow, 'grep'), grep, { mode: 0o755 })
    expect(await report(home.path, { PATH: `${slow}:${REAL_PATH}` }))
      .to.have.property('receipts')
      .that.deep.equals([])
    expect(readFileSync(log, 'utf8').length).to.be.within(1, 9)
  })

  it('finds an unpadded marker among small files of other websites', async () => {
    const home = buildHome(join(folder.path, 'small'))
    fill(join(home.path, CHROME, 'Default'), 5_000, 'x'.repeat(300))
    home.chromium(`${CHROME}/Default`, 1, marker(1, 1000, { size: 0 }))
    const { receipts, stderr } = await report(home.path)
    expect(receipts).to.deep.equal([receipt(1)])
    expect(stderr).to.include('opened 5001 files')
  })

  it('has the same limits as the contract', () => {
    expect(HOOK_SOURCE)
      .to.include(`-v most=${LIMITS.hookScanFiles} `)
      .and.to.include('at most 20,000 of them in at most 4 seconds')
    expect(HOOK_SOURCE).to.include(`:-0} + ${LIMITS.hookScanMs / 1000} - 1 - `)
    expect(HOOK_SOURCE).to.include(
      `--connect-timeout ${LIMITS.hookConnectMs / 1000} --max-time ${LIMITS.hookTotalMs / 1000}`,
    )
    expect(HOOK_SOURCE)
      .to.include(`++kept <= ${LIMITS.receiptsPerInstall}`)
      .and.to.include(`-size ${LIMITS.markerBytes}c`)
  })
})
