import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { BuildManifest } from '../../sdk/build.ts'
import { buildSdk } from '../../sdk/build.ts'

/** The part that every visitor loads. */
const CORE_BROTLI_BYTES = 3 * 1024
const EXTRAS_BROTLI_BYTES = 4 * 1024

describe('sdk/build', () => {
  let folder: string
  let manifest: BuildManifest
  const read = (name: string) => readFile(path.join(folder, name))

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-build-'))
    manifest = await buildSdk(folder)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('keeps what every visitor loads within 3 KB of brotli, and the extras within 4', () => {
    const [core, extras] = manifest.files
    expect(core?.brotliBytes).to.be.above(1_000).and.at.most(CORE_BROTLI_BYTES)
    expect(extras?.brotliBytes).to.be.above(1_000).and.at.most(EXTRAS_BROTLI_BYTES)
  })

  it('fails if a file is larger than its budget', async () => {
    const refusal = (budgets: Record<string, number>) =>
      buildSdk(folder, budgets).then(
        () => 'built',
        (error: unknown) => String(error),
      )
    expect(await refusal({ '/browser.js': 1_000 })).to.match(
      /\/browser\.js has \d+ bytes with brotli; 1000 are allowed/,
    )
    expect(await refusal({ '/browser/extras': 1_000 })).to.match(/\/browser\/extras\.\w+\.js has \d+ bytes/)
  })

  it('lists where each file is served, and its digest', async () => {
    expect(JSON.parse(String(await read('manifest.json')))).to.deep.equal(manifest)
    for (const { name, immutableUrl, sha256, integrity, bytes } of manifest.files) {
      const contents = await read(name)
      expect(bytes).to.equal(contents.byteLength)
      expect(sha256).to.equal(createHash('sha256').update(contents).digest('hex'))
      expect(integrity).to.equal(`sha384-${createHash('sha384').update(contents).digest('base64')}`)
      expect(immutableUrl)
        .to.match(/^\/browser(\.debug|\/[a-z]+)?\.[0-9a-f]{12}\.js$/)
        .and.include(sha256.slice(0, 12))
    }
    expect(manifest.files.map(({ url }) => url)).to.deep.equal([
      '/browser.js',
      manifest.files[1]?.immutableUrl,
      '/browser.debug.js',
    ])
  })

  it('lets the core name the extras by address and digest', async () => {
    const core = String(await read('browser.js'))
    const extras = await read(manifest.files[1]?.name ?? '')
    expect(core).to.include(manifest.files[1]?.url.slice(1) ?? 'none')
    expect(core).to.include(`sha256-${createHash('sha256').update(extras).digest('base64')}`)
  })

  it('makes the same bytes of the same sources, so that a digest can be checked by anyone', async () => {
    const again = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-build-'))
    try {
      expect(await buildSdk(again)).to.deep.equal(manifest)
    } finally {
      await rm(again, { recursive: true, force: true })
    }
  })

  it('produces code that runs under any policy, with nothing of a particular website', async () => {
    for (const { name } of manifest.files) {
      const text = String(await read(name))
      expect(text).not.to.match(
        /\beval\(|new Function|setAttribute\("style|innerHTML|new Worker|document\.write|persist\(/,
      )
      expect(text).not.to.match(/https?:\/\/(?!\[)/)
    }
  })

  it('keeps every word of the public interface and of the wire as it is', async () => {
    const core = String(await read('browser.js'))
    const words = ['start', 'grant', 'deny', 'handoff', 'command', 'fill', 'adapter', 'scope', 'push', 'project']
    const wire = [
      'url_id',
      'page_url',
      'referrer',
      'identities',
      'previous_receipt',
      'landed_at',
      'gpc',
      'client',
      'receipt',
    ]
    for (const word of [...words, ...wire]) expect(core, word).to.match(new RegExp(`\\b${word}\\b`))
  })
})
