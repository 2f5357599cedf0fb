import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'

const DOCS = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8')
const READY_TRIES = 200
const READY_STEP_MS = 50

/** What the page shows, with this test's service in the place of the example. */
function snippet(language: string, service: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(DOCS)?.[1]
  if (found === undefined) throw new Error(`docs/sdk.md shows no configuration of ${language}`)
  return found.replaceAll('whence.example', service)
}

interface Seen {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe('the first-party path of docs/sdk.md', function () {
  this.timeout(60_000)
  let folder: string
  let seen: Seen[]
  let service: ReturnType<typeof createServer>
  let address: string
  let front: ChildProcess | undefined
  let site: string

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-first-party-'))
    const { certPem, keyPem } = testCertificate(['localhost'])
    await writeFile(path.join(folder, 'ca.pem'), certPem)
    const context = createSecureContext({ cert: certPem, key: keyPem })
    // Like a front of many names: without a name in the handshake there is no certificate and no connection.
    service = createServer(
      { SNICallback: (name, done) => (name === 'localhost' ? done(null, context) : done(new Error('unknown name'))) },
      (request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          seen.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
          response.end('ok')
        })
      },
    )
    service.listen(0, '127.0.0.1')
    await once(service, 'listening')
    address = `localhost:${(service.address() as AddressInfo).port}`
  })
  after(async () => {
    service?.closeAllConnections()
    service?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => (seen = []))
  afterEach(async () => {
    if (front === undefined || front.exitCode !== null) return
    const ended = once(front, 'exit')
    front.kill('SIGTERM')
    await ended
  })

  async function begin(program: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
    const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
    front = child
    let said = ''
    child.stderr.on('data', (chunk) => (said += String(chunk)))
    for (let tries = 0; tries < READY_TRIES; tries++) {
      if (
        await fetch(`${site}/alive`).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        return
      if (child.exitCode !== null) break
      await wait(READY_STEP_MS)
    }
    throw new Error(`${program} does not answer: ${said}`)
  }

  async function beginNginx(): Promise<void> {
    const port = await freePort()
    site = `http://127.0.0.1:${port}`
    const locations = snippet('nginx', address)
      .replace('/etc/ssl/certs/ca-certificates.crt', path.join(folder, 'ca.pem'))
      // Node's server listens on IPv4 alone.
      .replace('proxy_pass https://localhost', 'proxy_ssl_name localhost; proxy_pass https://127.0.0.1')
    const file = path.join(folder, 'nginx.conf')
    await writeFile(
      file,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
      http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      server { listen 127.0.0.1:${port}; location = /alive { return 200; } ${locations} } }`,
    )
    await begin('nginx', ['-p', folder, '-c', file])
  }

  async function beginCaddy(): Promise<void> {
    const port = await freePort()
    site = `http://127.0.0.1:${port}`
    const file = path.join(folder, 'Caddyfile')
    await writeFile(
      file,
      `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n respond /alive 200\n ${snippet('caddy', address)}\n}\n`,
    )
    const env = {
      SSL_CERT_FILE: path.join(folder, 'ca.pem'),
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    }
    await begin('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], env)
  }

  const FRONTS: [string, () => Promise<void>][] = [
    ['nginx', beginNginx],
    ['Caddy', beginCaddy],
  ]
  for (const [name, beginFront] of FRONTS) {
    it(`of ${name} reaches a service of many names, with the path, body and Origin as sent`, async () => {
      await beginFront()
      const body = '{"project":"acme-dev"}'
      const headers = { 'content-type': 'application/json', origin: 'https://acme.dev', cookie: 'session=secret' }
      const answer = await fetch(`${site}/w/v1/visits`, { method: 'POST', headers, body })
      expect(answer.status).to.equal(200)
      expect(seen).to.have.length(1)
      expect(seen[0]).to.deep.include({ url: '/v1/visits', body })
      expect(seen[0]?.headers).to.deep.include({ origin: 'https://acme.dev', host: address })
      expect(seen[0]?.headers).not.to.have.property('cookie')
    })

    it(`of ${name} says the visitor's address, whatever the visitor says`, async () => {
      await beginFront()
      for (const claimed of ['203.0.113.1', '203.0.113.2, 10.0.0.1', '::1'])
        await fetch(`${site}/w/browser.js`, { headers: { 'x-forwarded-for': claimed } })
      expect(seen.map(({ headers }) => headers['x-forwarded-for'])).to.deep.equal([
        '127.0.0.1',
        '127.0.0.1',
        '127.0.0.1',
      ])
    })
  }
})
