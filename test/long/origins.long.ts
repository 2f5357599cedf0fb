/** A landing goes along to real sites of other origins: to their routers it is as if the link had carried nothing. */

import { expect } from 'chai'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../fixtures/engines/free-port.ts'
import type { PuppeteerInstance } from '../sdk/support/browsers.ts'
import { openChromiumWithHistory, openFirefox } from '../sdk/support/browsers.ts'
import type { RecordingService } from '../sdk/support/recording-service.ts'
import type { Site } from '../sdk/support/site.ts'
import { openStage, type SdkStage } from '../sdk/support/stage.ts'

const run = promisify(execFile)
const READY_TRIES = 600
const READY_STEP_MS = 200

interface RealSite {
  readonly name: string
  readonly packages: readonly string[]
  /** `tag` is the SDK's script element. */
  readonly files: (tag: ScriptTag) => Readonly<Record<string, string>>
  readonly build: readonly string[]
  readonly serve: readonly string[]
  /** Its page with the install command. */
  readonly path: string
  /** What that page shows. */
  readonly shows: string
}

interface ScriptTag {
  readonly html: string
  readonly src: string
}

const VUE_ROUTER = (history: string, { html }: ScriptTag): Readonly<Record<string, string>> => ({
  'index.html': `<!doctype html><link rel="icon" href="data:,">${html}<div id="app"></div><script type="module" src="/main.js"></script>`,
  'main.js': `import { createApp, h } from 'vue'
    import { createRouter, ${history}, RouterLink, RouterView } from 'vue-router'
    const page = (text) => ({ render: () => h('h1', text) })
    const routes = [
      { path: '/', component: page('Home') },
      { path: '/install', component: page('Install') },
      { path: '/:rest(.*)*', component: page('Not found') },
    ]
    const App = { render: () => [h(RouterLink, { to: '/install', id: 'next' }, () => 'Next'), h(RouterView)] }
    createApp(App).use(createRouter({ history: ${history}(), routes })).mount('#app')`,
})

const NEXT = (version: string): RealSite => ({
  name: `Next.js ${version}`,
  packages: [`next@${version}`, 'react@19', 'react-dom@19'],
  files: ({ src }) => ({
    'app/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>',
    'app/layout.jsx': `import Link from 'next/link'
      import Script from 'next/script'
      export default function Layout({ children }) {
        return <html lang="en"><body><Script src="${src}" data-project="acme-dev" />
          <Link id="next" href="/">Next</Link>{children}</body></html>
      }`,
    'app/page.jsx': 'export default function Home() { return <h1>Home</h1> }',
    'app/install/page.jsx': 'export default function Page() { return <h1>Install</h1> }',
  }),
  build: ['next', 'build'],
  serve: ['next', 'start', '-p', 'PORT'],
  path: '/install',
  shows: 'Install',
})

const SITES: readonly RealSite[] = [
  {
    name: 'VitePress',
    packages: ['vitepress@1', 'vue@3'],
    files: ({ src }) => ({
      '.vitepress/config.mjs': `export default { head: [['script', { async: '', src: '${src}', 'data-project': 'acme-dev' }]] }`,
      'index.md': '# Home',
      'install.md': '# Install\n\n## Section\n\n[Next](/)',
    }),
    build: ['vitepress', 'build'],
    serve: ['vitepress', 'preview', '--port', 'PORT'],
    path: '/install.html',
    shows: 'Install',
  },
  {
    name: 'Vue Router',
    packages: ['vite@8', 'vue@3', 'vue-router@4'],
    files: (tag) => VUE_ROUTER('createWebHistory', tag),
    build: ['vite', 'build'],
    serve: ['vite', 'preview', '--port', 'PORT', '--strictPort'],
    path: '/install',
    shows: 'Install',
  },
  {
    name: 'Vue Router by fragment',
    packages: ['vite@8', 'vue@3', 'vue-router@4'],
    files: (tag) => VUE_ROUTER('createWebHashHistory', tag),
    build: ['vite', 'build'],
    serve: ['vite', 'preview', '--port', 'PORT', '--strictPort'],
    path: '/',
    shows: 'Home',
  },
  NEXT('15'),
  NEXT('16'),
  {
    name: 'Docusaurus',
    packages: ['@docusaurus/core@3', '@docusaurus/preset-classic@3', 'react@19', 'react-dom@19'],
    files: ({ src }) => ({
      // Its bundler takes the package for one of CommonJS.
      'package.json': '{"name":"site","private":true}',
      'docusaurus.config.js': `module.exports = { title: 'Docs', url: 'http://localhost', baseUrl: '/',
        scripts: [{ src: '${src}', async: true, 'data-project': 'acme-dev' }],
        presets: [['classic', { docs: { routeBasePath: '/', sidebarPath: undefined }, blog: false }]] }`,
      'docs/index.md': '---\nslug: /\n---\n# Home',
      'docs/install.md': '# Install\n\n## Section',
    }),
    build: ['docusaurus', 'build'],
    serve: ['docusaurus', 'serve', '--port', 'PORT', '--no-open'],
    path: '/install',
    shows: 'Install',
  },
]

/** What a test page says of itself: nothing may remain of what came along. */
const SEEN_JS = `({ href: location.href, title: document.querySelector('h1')?.innerText ?? '' })`

describe('landings on real sites of other origins', function () {
  this.timeout(900_000)
  let stage: SdkStage
  let service: RecordingService
  let site: Site
  let folder: string
  let server: ChildProcess | undefined

  before(async () => {
    stage = await openStage()
    ;({ service, site } = stage)
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-origins-'))
  })
  after(async () => {
    await stage?.close()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(() => service.reset())

  const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: 'true' }

  async function build({ name, packages, files, build: words }: RealSite): Promise<string> {
    const home = path.join(folder, name.replace(/\W+/g, '-'))
    const src = `${service.url}/browser.js`
    const tag = { src, html: `<script async src="${src}" data-project="acme-dev"></script>` }
    const all = { 'package.json': '{"name":"site","private":true,"type":"module"}', ...files(tag) }
    for (const [file, text] of Object.entries(all)) {
      await mkdir(path.join(home, path.dirname(file)), { recursive: true })
      await writeFile(path.join(home, file), text)
    }
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: home })
    const [program = '', ...rest] = words
    await run(path.join(home, 'node_modules/.bin', program), rest, { cwd: home, env: environment })
    return home
  }

  async function serve(home: string, words: readonly string[]): Promise<string> {
    const port = await freePort()
    const [program = '', ...rest] = words.map((word) => word.replace('PORT', String(port)))
    const child = spawn(path.join(home, 'node_modules/.bin', program), rest, {
      cwd: home,
      detached: true,
      stdio: 'ignore',
      env: environment,
    })
    server = child
    const origin = `http://localhost:${port}`
    for (let tries = 0; tries < READY_TRIES && child.exitCode === null; tries++) {
      const isReady = await fetch(origin).then(
        (answer) => answer.ok,
        () => false,
      )
      if (isReady) return origin
      await wait(READY_STEP_MS)
    }
    throw new Error(`${words.join(' ')} does not answer`)
  }

  async function stop(): Promise<void> {
    if (server?.exitCode !== null) return
    const ended = once(server, 'exit')
    // The framework's command starts processes of its own.
    process.kill(-(server.pid ?? 0), 'SIGTERM')
    await ended
  }

  /** Lands on the first site, and follows its link; what the other one then shows, and the landing that its visit had. */
  async function follow({ browser }: PuppeteerInstance, link: string, shows: string): Promise<void> {
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    const origin = new URL(link).origin
    service.site = { origins: [site.foreignOrigin, origin], ignoredReferrers: [], crossOrigin: 'Carry' }
    const start = site.add(
      `<script async src="${service.url}/browser.js" data-project="acme-dev"></script><a href="${link}">Docs</a>`,
    )
    await page.goto(`${start.replace(site.origin, site.foreignOrigin)}?utm_source=news&utm_campaign=launch`)
    await page.waitForFunction(`window.whence?.link?.('${origin}/').includes('_whence')`)
    await page.click('a')
    const [, visit] = await service.waitFor('/v1/visits', 2)
    expect(visit?.body.source).to.deep.include({ utm: { source: 'news', campaign: 'launch' }, carried: true })
    await page.waitForFunction(`document.querySelector('h1')?.innerText.includes('${shows}')`)
    await page.waitForFunction(`document.readyState === 'complete' && !location.href.includes('_whence')`)
    const seen = await page.evaluate(SEEN_JS)
    // The same address without what was carried, as the site itself leaves it.
    const plain = await browser.newPage()
    await plain.goto(link)
    await plain.waitForFunction(`document.querySelector('h1')?.innerText.includes('${shows}')`)
    expect(seen).to.deep.equal(await plain.evaluate(SEEN_JS))
    // Not to be mistaken for one of the next link.
    await service.waitFor('/v1/visits', 3)
    expect(problems).to.deep.equal([])
    await page.close()
    await plain.close()
    service.reset()
  }

  /** All links in one browser. */
  async function followAll(
    open: () => Promise<PuppeteerInstance>,
    origin: string,
    { path: where, shows }: RealSite,
  ): Promise<void> {
    const instance = await open()
    try {
      // A fragment is a route of the router by fragment.
      const ends = where === '/' ? ['', '?a=b'] : ['', '?a=b', '?a=b#section']
      for (const end of ends) await follow(instance, origin + where + end, shows)
    } finally {
      await instance.close()
    }
  }

  for (const real of SITES)
    it(`${real.name} shows the page of the link, with its address, and counts the landing`, async () => {
      const origin = await serve(await build(real), real.serve)
      try {
        for (const open of [openChromiumWithHistory, openFirefox]) await followAll(open, origin, real)
      } finally {
        await stop()
      }
    })
})
