import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { BuildManifest } from '../../sdk/build.ts'
import { buildSdk } from '../../sdk/build.ts'
import { keepSdk, lackingIn } from '../../tools/release/keep-sdk.ts'
import { createApp } from '../../api/app.ts'
import { listen } from '../../api/server.ts'
import { bareCatalog, bareDeps } from '../api/support/bare-api.ts'

/** The part that every visitor loads, and what it keeps free for changes to come. */
const CORE_BROTLI_BYTES = 3 * 1024
const FREE_BYTES = 300
const EXTRAS_BROTLI_BYTES = 4 * 1024
/** All that a website with providers loads before its visit is sent. */
const BEFORE_VISIT_BROTLI_BYTES = 4_800

describe('sdk/build', () => {
  let folder: string
  let manifest: BuildManifest
  const read = (name: string) => readFile(path.join(folder, name))

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-build-'))
    manifest = await buildSdk(folder)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('keeps what every visitor loads within 3 KB of brotli, with room for changes, and the extras within 4', () => {
    const [core, extras] = manifest.files
    expect(core?.brotliBytes)
      .to.be.above(1_000)
      .and.at.most(CORE_BROTLI_BYTES - FREE_BYTES)
    expect(extras?.brotliBytes).to.be.above(1_000).and.at.most(EXTRAS_BROTLI_BYTES)
  })

  it('keeps what is loaded before a visit with identifiers within 4,800 bytes', () => {
    const [core, , readers, recorder] = manifest.files
    const sizes = [core, readers, recorder].map((file) => file?.brotliBytes ?? Infinity)
    expect(sizes.reduce((sum, size) => sum + size)).to.be.at.most(BEFORE_VISIT_BROTLI_BYTES)
  })

  it('fails if a file is larger than its budget', async () => {
    const refusal = (budgets: Record<string, number>) =>
      buildSdk(folder, { budgetBytes: budgets }).then(
        () => 'built',
        (error: unknown) => String(error),
      )
    expect(await refusal({ '/browser.js': 1_000 })).to.match(
      /\/browser\.js has \d+ bytes with brotli; 1000 are allowed/,
    )
    expect(await refusal({ '/browser/extras': 1_000 })).to.match(/\/browser\/extras\.\w+\.js has \d+ bytes/)
  })

  describe('of the release after', () => {
    let earlierFolder: string
    let next: string
    beforeEach(async () => {
      earlierFolder = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-earlier-'))
      next = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-next-'))
    })
    afterEach(async () => {
      await rm(earlierFolder, { recursive: true })
      await rm(next, { recursive: true })
    })

    /** Keeps what a made-up release served; its sources were others, so its addresses were others too. */
    async function keepMadeUp(): Promise<BuildManifest['files']> {
      const text = '/* an earlier release */'
      const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
      await mkdir(path.join(next, 'browser'))
      const files = ['/browser', '/browser.debug', '/browser/extras'].map((stem) => {
        const immutableUrl = `${stem}.${digest}.js`
        return { name: immutableUrl.slice(1), url: immutableUrl, immutableUrl } as BuildManifest['files'][number]
      })
      for (const { name } of files) await writeFile(path.join(next, name), text)
      expect(lackingIn(earlierFolder, files)).to.deep.equal(files)
      expect(await keepSdk(next, { files, earlier: [] }, earlierFolder)).to.deep.equal(files.map(({ url }) => url))
      expect(await keepSdk(next, { files, earlier: [] }, earlierFolder)).to.deep.equal([])
      expect(lackingIn(earlierFolder, files)).to.deep.equal([])
      return files
    }

    it('serves every address with a digest that an earlier one has served, and its own', async () => {
      const served = await keepMadeUp()
      const built = await buildSdk(next, { earlierFolder })
      const deps = bareDeps(bareCatalog())
      const server = await listen(createApp({ ...deps, options: { ...deps.options, sdkFolder: next } }), {
        host: '127.0.0.1',
        port: 0,
      })
      try {
        for (const { immutableUrl } of [...served, ...built.files]) {
          const reply = await fetch(`http://127.0.0.1:${server.port}${immutableUrl}`)
          expect(reply.status, immutableUrl).to.equal(200)
          expect(reply.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable')
          expect(reply.headers.get('access-control-allow-origin')).to.equal('*')
          const digest = createHash('sha256').update(await reply.text())
          expect(immutableUrl).to.include(digest.digest('hex').slice(0, 12))
        }
      } finally {
        await server.close()
      }
    })

    it('does not serve its own files twice once they are kept', async () => {
      await keepSdk(folder, manifest, earlierFolder)
      expect((await buildSdk(next, { earlierFolder })).earlier).to.deep.equal([])
    })

    it('is refused if a file of an earlier one was changed', async () => {
      const [core] = await keepMadeUp()
      await writeFile(path.join(earlierFolder, core?.name ?? ''), 'another')
      const refusal = await buildSdk(next, { earlierFolder }).then(
        () => 'built',
        (error: unknown) => String(error),
      )
      expect(refusal).to.include('is not what was served')
    })
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
    const urls = manifest.files.map(({ url }) => url)
    expect(urls).to.deep.equal(['/browser.js', urls[1], urls[2], urls[3], '/browser.debug.js', urls[5]])
    expect(urls[1]).to.match(/^\/browser\/extras\./)
    expect(urls[2]).to.match(/^\/browser\/readers\./)
    expect(urls[3]).to.match(/^\/browser\/recorder\./)
    expect(urls[5]).to.match(/^\/browser\/keeper\./)
  })

  it('lets the core and its recorder name the other parts by address and digest', async () => {
    const [core, extras, readers, recorder, , keeper] = manifest.files
    for (const [part, from] of [
      [extras, core],
      [recorder, core],
      [readers, recorder],
      [keeper, recorder],
    ]) {
      const text = String(await read(from?.name ?? ''))
      expect(text).to.include(part?.url.slice(1))
      expect(text).to.include(
        `sha256-${createHash('sha256')
          .update(await read(part?.name ?? ''))
          .digest('base64')}`,
      )
    }
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
    const [core, , readers, recorder] = manifest.files
    const texts = await Promise.all([core, readers, recorder].map((file) => read(file?.name ?? '')))
    const sources = texts.join('')
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
    for (const word of [...words, ...wire]) expect(sources, word).to.match(new RegExp(`\\b${word}\\b`))
  })
})
