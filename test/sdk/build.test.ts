import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { BuildManifest } from '../../sdk/build.ts'
import { buildSdk } from '../../sdk/build.ts'
import { DIGEST_CHARS } from '../../sdk/core/digest.ts'
import { READERS } from '../../sdk/readers/index.ts'
import { keepSdk, lackingIn } from '../../tools/release/keep-sdk.ts'
import { createApp } from '../../api/app.ts'
import { listen } from '../../api/server.ts'
import { bareCatalog, bareDeps } from '../api/support/bare-api.ts'
import { CORE_BYTES, EXTRAS_BYTES, FREE_BYTES } from './support/budgets.ts'
import { fileOf } from './support/stage.ts'

/** What an address has of the digest: that of a part, and that of a file that pages name. */
function digestIn(address: string, contents: string | Buffer): string {
  const digest = createHash('sha256').update(contents).digest()
  return address.startsWith('/browser/')
    ? digest.toString('base64').replace(/\W/g, '').slice(0, DIGEST_CHARS)
    : digest.toString('hex').slice(0, 12)
}

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
    expect(fileOf(manifest, '/browser').brotliBytes)
      .to.be.above(1_000)
      .and.at.most(CORE_BYTES - FREE_BYTES)
    expect(fileOf(manifest, '/browser/extras').brotliBytes).to.be.above(1_000).and.at.most(EXTRAS_BYTES)
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
      await mkdir(path.join(next, 'browser'))
      const files = ['/browser', '/browser.debug', '/browser/extras'].map((stem) => {
        const immutableUrl = `${stem}.${digestIn(stem, text)}.js`
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
          expect(immutableUrl).to.include(digestIn(immutableUrl, await reply.text()))
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
        .to.match(/^\/browser(\.debug)?\.[0-9a-f]{12}\.js$|^\/browser\/[a-z]+\.[0-9A-Za-z]{20}\.js$/)
        .and.include(digestIn(immutableUrl, contents))
    }
    expect(manifest.files.map(({ url }) => url.replace(/^(\/browser\/\w+)\.\w+\.js$/, '$1'))).to.have.members([
      '/browser.js',
      '/browser.debug.js',
      ...['extras', 'recorder', 'keeper', ...Object.keys(READERS).map(() => 'reader')].map(
        (part) => `/browser/${part}`,
      ),
    ])
  })

  it('lets each part name those that it loads, whose addresses have enough of their digests', async () => {
    const loadedBy = {
      recorder: '/browser',
      keeper: '/browser',
      extras: '/browser/keeper',
      reader: '/browser/recorder',
    }
    for (const [name, loader] of Object.entries(loadedBy)) {
      const text = String(await read(fileOf(manifest, loader).name))
      for (const { url } of manifest.files.filter(({ url }) => url.startsWith(`/browser/${name}.`)))
        expect(text).to.include(`"${url.slice(1)}"`)
    }
    // 62 letters and digits: 119 bits.
    expect(Math.log2(62) * DIGEST_CHARS).to.be.above(119)
  })

  it('gives each provider a reader of its own, without a word of another', async () => {
    const texts = await Promise.all(
      manifest.files.filter(({ url }) => url.startsWith('/browser/reader.')).map(({ name }) => read(name)),
    )
    const words = { google_ads: 'gclid', meta: 'fbclid', tiktok: 'ttclid', x: 'twclid' }
    expect(Object.keys(words)).to.have.members(Object.keys(READERS))
    for (const word of Object.values(words)) expect(texts.filter((text) => text.includes(word))).to.have.length(1)
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
      // A name declared outside of a function would be a global of the page.
      expect(text).to.match(/^(?:\(\(\)=>\{|window\.whence\.)/)
    }
  })

  it('keeps every word of the public interface and of the wire as it is', async () => {
    const texts = await Promise.all(['/browser', '/browser/recorder'].map((part) => read(fileOf(manifest, part).name)))
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
