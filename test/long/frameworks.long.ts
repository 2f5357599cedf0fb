/** Installs the package `whence-js` into real projects of Vite and Next.js, and follows a visitor through them in a real browser. */

import { expect } from 'chai'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { buildPackage } from '../../sdk/build-package.ts'
import { buildSdk } from '../../sdk/build.ts'
import type { ChromiumInstance } from '../sdk/support/browsers.ts'
import { openChromium } from '../sdk/support/browsers.ts'
import { COMMAND, FILLED } from '../sdk/support/command.ts'
import type { RecordingService } from '../sdk/support/recording-service.ts'
import { startRecordingService } from '../sdk/support/recording-service.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'

const run = promisify(execFile)
const READY_TRIES = 600
const READY_STEP_MS = 200
const REACT = ['react@19', 'react-dom@19']

/** A page of both frameworks: it starts the SDK, shows the command, and says whether it was copied. */
const installPage = (service: string): string => `
import { useInstallCommand, useWhence } from 'whence-js/react'
export function Install() {
  useWhence({ project: 'acme-dev', service: '${service}' })
  const { command, buttonProps, isCopied } = useInstallCommand('${COMMAND}')
  return <p><code>{command}</code> <button {...buttonProps}>{isCopied ? 'Copied' : 'Copy'}</button></p>
}
`

describe('whence-js in real projects', function () {
  this.timeout(900_000)
  let folder: string
  let tarball: string
  let service: RecordingService
  let chromium: ChromiumInstance
  let page: Page
  let problems: string[]
  let server: ChildProcess | undefined

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-frameworks-'))
    await buildPackage(path.join(folder, 'package'))
    const { stdout } = await run('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], {
      cwd: path.join(folder, 'package'),
    })
    tarball = path.join(folder, stdout.trim())
    await buildSdk(path.join(folder, 'bundle'))
    service = await startRecordingService(path.join(folder, 'bundle'))
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    await service?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    service.reset()
    problems = []
    page = await chromium.context.newPage()
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('favicon')) problems.push(message.text())
    })
  })
  afterEach(async () => {
    await page.close()
    if (server?.exitCode === null) {
      const ended = once(server, 'exit')
      // The framework's command starts processes of its own.
      process.kill(-(server.pid ?? 0), 'SIGTERM')
      await ended
    }
    expect(problems).to.deep.equal([])
  })

  async function project(
    name: string,
    packages: readonly string[],
    files: Readonly<Record<string, string>>,
  ): Promise<string> {
    const home = path.join(folder, name)
    await mkdir(home)
    await writeFile(path.join(home, 'package.json'), `{"name":"${name}","private":true,"type":"module"}`)
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...REACT, ...packages, tarball], {
      cwd: home,
    })
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.join(home, path.dirname(file)), { recursive: true })
      await writeFile(path.join(home, file), text)
    }
    return home
  }

  async function serve(home: string, words: readonly string[]): Promise<string> {
    const port = await freePort()
    const [program = '', ...rest] = words.map((word) => word.replace('PORT', String(port)))
    const child = spawn(path.join(home, 'node_modules/.bin', program), rest, {
      cwd: home,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    })
    server = child
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)))
    const site = `http://localhost:${port}`
    for (let tries = 0; tries < READY_TRIES && child.exitCode === null; tries++) {
      if (
        await fetch(site).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        return site
      await wait(READY_STEP_MS)
    }
    throw new Error(`${words.join(' ')} does not answer: ${said}`)
  }

  /** Lands with a campaign, follows a route, copies the command there. */
  async function followAVisitor(site: string): Promise<void> {
    await page.goto(`${site}/?utm_source=news&gclid=g1`)
    await service.waitFor('/v1/visits/activate')
    await page.click('a')
    await page.waitForURL(`${site}/install`)
    await service.waitFor('/v1/visits/activate', 2)
    const visits = await service.waitFor('/v1/visits', 2)
    expect(visits).to.have.length(2)
    expect(visits.map(({ body }) => body.page_url)).to.deep.equal([`${site}/`, `${site}/install`])
    for (const { body } of visits) expect(body.source.utm).to.deep.equal({ source: 'news' })
    await page.hover('button')
    await service.waitFor('/v1/handoffs')
    await page.waitForFunction(`window.whence.fill('${COMMAND}').includes('wht_')`)
    await page.click('button')
    await page.waitForFunction(`document.querySelector('button').textContent === 'Copied'`)
    expect(await page.evaluate('navigator.clipboard.readText()')).to.match(FILLED)
    expect(await page.textContent('code')).to.equal(COMMAND)
  }

  describe('Vite and React', () => {
    let home: string
    before(async () => {
      home = await project('with-vite', ['vite@8', '@vitejs/plugin-react'], {
        'vite.config.js': `import react from '@vitejs/plugin-react'\nexport default { plugins: [react()] }`,
        'index.html': `<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/main.jsx"></script>`,
        'install.jsx': installPage(service.url),
        'main.jsx': `import { StrictMode, useState } from 'react'
          import { createRoot } from 'react-dom/client'
          import { Install } from './install.jsx'
          function App() {
            const [path, setPath] = useState(location.pathname)
            const go = (event) => { event.preventDefault(); history.pushState(null, '', '/install'); setPath('/install') }
            return <><a href="/install" onClick={go}>Install</a><h1>{path}</h1><Install /></>
          }
          createRoot(document.getElementById('root')).render(<StrictMode><App /></StrictMode>)`,
      })
    })

    it('follow a visitor over routes in development, in strict mode, and explain it on the console', async () => {
      const said: string[] = []
      page.on('console', (message) => said.push(message.text()))
      await followAVisitor(await serve(home, ['vite', '--port', 'PORT', '--strictPort']))
      expect(said.join('\n')).to.include('[whence] The visit is recorded.')
    })

    it('follow a visitor over routes in production, silently', async () => {
      const said: string[] = []
      page.on('console', (message) => said.push(message.text()))
      await run(path.join(home, 'node_modules/.bin/vite'), ['build'], { cwd: home })
      await followAVisitor(await serve(home, ['vite', 'preview', '--port', 'PORT', '--strictPort']))
      expect(said).to.deep.equal([])
    })
  })

  describe('Next.js', () => {
    let home: string
    before(async () => {
      home = await project('with-next', ['next@latest'], {
        'app/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>',
        'app/layout.jsx': `import Link from 'next/link'
          import { Install } from './install'
          export default function Layout({ children }) {
            return <html lang="en"><body><Link href="/install">Install</Link>{children}<Install /></body></html>
          }`,
        'app/page.jsx': 'export default function Home() { return <h1>Home</h1> }',
        'app/install/page.jsx': 'export default function Page() { return <h1>Install</h1> }',
        'app/install.jsx': `'use client'${installPage(service.url)}`,
        'next.config.mjs': 'export default { reactStrictMode: true }',
      })
    })

    it('renders the command on the server, and follows a visitor in production', async () => {
      await run(path.join(home, 'node_modules/.bin/next'), ['build'], {
        cwd: home,
        env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
      })
      const site = await serve(home, ['next', 'start', '-p', 'PORT'])
      expect(await (await fetch(`${site}/install`)).text()).to.include(COMMAND)
      await followAVisitor(site)
    })

    it('follows a visitor in development, in strict mode', async () => {
      await followAVisitor(await serve(home, ['next', 'dev', '-p', 'PORT']))
    })
  })
})
