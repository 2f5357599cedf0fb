/** The public files: the SDK, the hook's source, the limits, the OpenAPI document, the setup skill; and `/health`. */

import { spawnSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { NOT_BUILT, PUBLIC_LIMITS, PLAN_LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { createApp } from '../../api/app.ts'
import { version } from '../../bin/wiring/version.ts'
import { manifestsWith, startApi, type Api } from './support/api.ts'
import { bareCatalog, bareDeps } from './support/bare-api.ts'

interface SdkFile {
  readonly url: string
  readonly immutableUrl: string
  readonly sha256: string
  readonly integrity: string
  readonly brotliBytes: number
}

const SDK = JSON.parse(readFileSync(new URL('../../sdk/dist/manifest.json', import.meta.url), 'utf8')) as {
  files: SdkFile[]
}
const SKILL = '/skills/whence-setup'
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

describe('the public files of a checkout in which nothing was built', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-unbuilt-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('end the start with what to do', () => {
    const deps = bareDeps(bareCatalog())
    const unbuilt = { ...deps, options: { ...deps.options, sdkFolder: join(folder, 'dist') } }
    expect(() => createApp(unbuilt)).to.throw('the SDK is not built: run npm run -s build')
  })
})

describe('public files', () => {
  let api: Api
  before(async () => {
    api = await startApi({ env: { WHENCE_PRICES: '{"Standard":{"month":"EUR 49"}}' } })
  })
  after(() => api.stop())

  /** The bytes as they are sent: fetch would decompress them. */
  const raw = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
      request(api.service.url + path, { headers }, (res) => {
        const chunks: Buffer[] = []
        res.on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes: Buffer.concat(chunks) }),
        )
      })
        .on('error', reject)
        .end()
    })

  describe('GET /browser.js', () => {
    const [core] = SDK.files

    it('serves the built SDK to pages of any origin', async () => {
      const reply = await api.get('/browser.js', { origin: 'https://anybody.example' })
      expect(reply.status).to.equal(200)
      expect(sha256(reply.text)).to.equal(core!.sha256)
      expect(reply.headers.get('content-type')).to.equal('text/javascript; charset=utf-8')
      expect(reply.headers.get('access-control-allow-origin')).to.equal('*')
      expect(reply.headers.get('cross-origin-resource-policy')).to.equal('cross-origin')
      expect(reply.headers.get('cache-control')).to.equal('public, max-age=300')
    })

    it('serves every part permanently under a name with its digest, suitable for subresource integrity', async () => {
      for (const file of SDK.files) {
        const reply = await api.get(file.immutableUrl)
        expect(reply.status, file.immutableUrl).to.equal(200)
        expect(reply.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable')
        expect(reply.headers.get('access-control-allow-origin')).to.equal('*')
        const digest = createHash('sha384').update(reply.text).digest('base64')
        expect(`sha384-${digest}`).to.equal(file.integrity)
      }
      expect((await api.get('/browser.000000000000.js')).status).to.equal(404)
    })

    it('answers 304 to the ETag that it gave, and the whole file to another', async () => {
      const etag = (await api.get('/browser.js')).headers.get('etag')!
      const known = await api.get('/browser.js', { headers: { 'If-None-Match': etag } })
      expect(known.status).to.equal(304)
      expect(known.text).to.equal('')
      expect((await api.get('/browser.js', { headers: { 'If-None-Match': '"x"' } })).status).to.equal(200)
    })

    it('is compressed with brotli rather than gzip, if the client accepts it', async () => {
      const plain = await raw('/browser.js')
      const unpack = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes }
      const rows: readonly (readonly [string, keyof typeof unpack])[] = [
        ['br', 'br'],
        ['gzip, deflate, br', 'br'],
        ['gzip', 'gzip'],
        ['GZIP;q=0.5', 'gzip'],
        ['br;q=0, gzip', 'gzip'],
        ['br;q=0.0', 'none'],
        ['identity', 'none'],
        ['', 'none'],
      ]
      for (const [accepted, coding] of rows) {
        const reply = await raw('/browser.js', { 'Accept-Encoding': accepted })
        expect(reply.headers['content-encoding'] ?? 'none', accepted).to.equal(coding)
        expect(reply.headers['vary']).to.equal('Accept-Encoding')
        expect(reply.headers['content-length']).to.equal(String(reply.bytes.length))
        expect(unpack[coding](reply.bytes).equals(plain.bytes), accepted).to.equal(true)
      }
    })
  })

  it('are as small as the build of the SDK says, its smallest parts too', async () => {
    for (const { immutableUrl, brotliBytes } of SDK.files) {
      const { bytes } = await raw(immutableUrl, { 'Accept-Encoding': 'br' })
      expect(bytes.byteLength, immutableUrl).to.equal(brotliBytes)
    }
  })

  describe('GET /report.sh', () => {
    it("is the hook's source as plain text", async () => {
      const { text: source, headers } = await api.get('/report.sh')
      expect(source).to.equal(readFileSync(new URL('../../hook/report.sh', import.meta.url), 'utf8'))
      expect(headers.get('content-type')).to.equal('text/plain; charset=utf-8')
    })
  })

  describe('GET /api/limits', () => {
    it('shows plans, prices, rates and limits, for five minutes', async () => {
      const { body, headers } = await api.get('/api/limits')
      expect(headers.get('cache-control')).to.equal('public, max-age=300')
      expect(body['plans']).to.deep.equal(PLAN_LIMITS)
      expect(body['rates']).to.deep.equal(RATE_RULES)
      expect(body['service']).to.deep.equal(PUBLIC_LIMITS)
      expect(body['service'])
        .to.include.keys('bodyBytes', 'receiptsPerInstall')
        .and.not.have.any.keys('claimLeaseMs', 'appendDeadlineMs')
      expect(body['notBuilt']).to.deep.equal(NOT_BUILT)
      expect(body['prices']).to.deep.equal({ Free: null, Standard: { month: 'EUR 49' }, Enterprise: null })
    })
  })

  describe('GET /openapi.json', () => {
    it('is an OpenAPI 3.1 document with this base address', async () => {
      const { body } = await api.get('/openapi.json')
      expect(body['openapi']).to.equal('3.1.0')
      expect(body['servers']).to.deep.equal([{ url: api.service.url }])
    })
  })

  describe('GET /skills/whence-setup/...', () => {
    it('lists every file with the digest of what is served, and the digest of the hook', async () => {
      const { body } = await api.get(`${SKILL}/manifest.json`)
      const names = body['files'].map(({ path }: { path: string }) => path)
      expect(names).to.include.members(['SKILL.md', 'install.sh', 'references/website.md'])
      for (const { path, sha256: digest } of body['files']) {
        expect(sha256((await api.get(`${SKILL}/${path}`)).text), path).to.equal(digest)
      }
      expect(body['hook']).to.deep.equal({
        url: `${api.service.url}/report.sh`,
        sha256: sha256((await api.get('/report.sh')).text),
      })
    })

    it('leaves no placeholder unfilled and names attributes that the SDK knows', async () => {
      const { body } = await api.get(`${SKILL}/manifest.json`)
      for (const { path } of body['files']) {
        expect((await api.get(`${SKILL}/${path}`)).text, path).to.not.match(/\{\{/)
      }
      const page = (await api.get(`${SKILL}/references/website.md`)).text
      expect(page).to.include('data-whence-command').and.include('window.whence').and.include(api.service.url)
    })

    it('installs itself by its install.sh, checked, into the folder asked for', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'whence-skill-'))
      try {
        const script = (await api.get(`${SKILL}/install.sh`)).text
        const child = spawn('sh', ['-s', '--', join(folder, 'skill')], { stdio: ['pipe', 'pipe', 'pipe'] })
        child.stdin.end(script)
        const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
        expect(problems).to.equal('')
        expect(out).to.include('installed into')
        const { body } = await api.get(`${SKILL}/manifest.json`)
        for (const { path, sha256: digest } of body['files']) {
          if (path === 'install.sh') continue
          expect(sha256(await readFile(join(folder, 'skill', path))), path).to.equal(digest)
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })

    it('installs nothing if a file does not match its digest', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'whence-skill-'))
      try {
        // Our own curl, first in the path, which corrupts one file on its way.
        const curl =
          '#!/bin/sh\nfor last; do :; done\n"$REAL_CURL" "$@" || exit\ncase $last in *website.md) echo spoiled >> "$last" ;; esac\n'
        const { writeFile, mkdir } = await import('node:fs/promises')
        await mkdir(join(folder, 'bin'))
        await writeFile(join(folder, 'bin', 'curl'), curl, { mode: 0o755 })
        const where = spawnSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).stdout.trim()
        const script = (await api.get(`${SKILL}/install.sh`)).text
        const env = { ...process.env, REAL_CURL: where, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
        const child = spawn('sh', ['-s', '--', join(folder, 'skill')], { env })
        child.stdin.end(script)
        const [problems, code] = await Promise.all([
          text(child.stderr),
          new Promise((resolve) => child.on('exit', resolve)),
        ])
        expect(problems).to.include('does not match its digest')
        expect(code).to.equal(1)
        expect(await readdir(folder)).to.deep.equal(['bin'])
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  })

  describe('every one of them', () => {
    it('answers HEAD as GET without a body, and 405 with Allow to anything else', async () => {
      for (const path of [
        '/browser.js',
        '/report.sh',
        '/api/limits',
        '/openapi.json',
        `${SKILL}/SKILL.md`,
        '/health',
      ]) {
        const head = await api.get(path, { method: 'HEAD' })
        expect(head.status, path).to.equal(200)
        expect(head.text).to.equal('')
        for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
          const reply = await api.get(path, { method })
          expect(reply.status, `${method} ${path}`).to.equal(405)
          expect(reply.headers.get('allow')).to.equal('GET, HEAD')
          expect(reply.body).to.deep.equal({ error: 'method_not_allowed' })
        }
      }
    })

    it('has the type that its content has', async () => {
      for (const path of ['/browser.js', '/report.sh', '/api/limits', `${SKILL}/SKILL.md`, '/health', '/nothing']) {
        expect((await api.get(path)).headers.get('x-content-type-options'), path).to.equal('nosniff')
      }
    })
  })

  describe('GET /health', () => {
    it('says what is delivered and whether each part is healthy', async () => {
      const { body, headers } = await api.get('/health')
      expect(body).to.deep.include({ ok: true, ga_mode: 'live', delivery: 'live', version: version() })
      expect(body['event_log']).to.deep.include({ isAccepting: true })
      expect(body['catalog']).to.deep.include({ isComplete: true })
      expect(headers.get('cache-control')).to.equal('no-store')
    })

    it('says validate until a destination is Live, and none without destinations', async () => {
      await api.service.apply(manifestsWith(['mode: Live', 'mode: Validate']))
      expect((await api.get('/health')).body).to.deep.include({ ga_mode: 'validate', delivery: 'validate' })
      await api.service.apply(manifestsWith(['mode: Live', 'mode: Paused']))
      expect((await api.get('/health')).body).to.deep.include({ ga_mode: 'validate', delivery: 'validate' })
      const withoutDestination = manifestsWith()['acme.yaml']!.split('---').slice(0, 3).join('---')
      await api.service.apply({ 'acme.yaml': withoutDestination })
      expect((await api.get('/health')).body).to.deep.include({ ga_mode: 'none', delivery: 'none' })
    })

    it('shows no secret, origin, address or identifier', async () => {
      const { text: body } = await api.get('/health')
      expect(body).to.not.match(/secret|only-for-tests|acme\.dev|127\.0\.0\.1/)
    })

    it('names no object and no number of them; the metrics port does', async () => {
      const bad = 'apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: some-project }\nspec: {}\n'
      await writeFile(join(api.service.folder, 'manifests', 'bad.yaml'), bad)
      let health: Record<string, any> = {}
      const isIncomplete = async () => (health = (await api.get('/health')).body)['catalog']?.isComplete === false
      await until(isIncomplete, { everyMs: 25 })
      expect(health['catalog']).to.have.all.keys('version', 'isComplete')
      expect(health).to.have.all.keys(
        'ok',
        'ga_mode',
        'delivery',
        'version',
        'catalog',
        'event_log',
        'hot_state',
        'facts',
      )
      expect(JSON.stringify(health)).to.not.match(/some-project|acme|lag/)
      for (const part of ['event_log', 'hot_state', 'facts'])
        expect(
          Object.values(health[part]).every((value) => typeof value === 'boolean'),
          part,
        ).to.equal(true)
      const status = (await (await fetch(api.service.metricsUrl.replace('/metrics', '/status'))).json()) as any
      expect(status.catalog.problems.map(({ object }: any) => object)).to.include('Website/some-project')
      expect(status).to.include.keys('lag', 'workers', 'event_log')
      expect(status.catalog).to.deep.include({ organizations: 1, websites: 1 })
    })
  })
})

describe('public files under another brand', () => {
  let api: Api
  before(async () => {
    api = await startApi({ env: { WHENCE_BRAND: 'acme-counts' } })
  })
  after(() => api.stop())

  it('are under the brand and name its variables', async () => {
    expect((await api.get('/skills/whence-setup/SKILL.md', { isDocumented: false })).status).to.equal(404)
    const page = await api.get('/skills/acme-counts-setup/references/installer.md', { isDocumented: false })
    expect(page.text).to.include('ACME_COUNTS_HANDOFF').and.include('/etc/acme-counts/disabled')
    expect((await api.get('/report.sh')).text).to.include('ACME_COUNTS_HANDOFF')
    const { body } = await api.get('/openapi.json')
    expect(Object.keys(body['paths'])).to.include('/skills/acme-counts-setup/SKILL.md')
  })
})
