/** The snippets of the set-up, pasted as they are shown into real projects, in both browsers: the visit is recorded, and the copied command carries its token. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Page } from 'puppeteer-core'
import type { ScriptedPlace, SetUp } from '../../domain/onboarding/choices.ts'
import { EXAMPLE_COMMANDS, PLACE_TITLES } from '../../domain/onboarding/set-up-words.ts'
import { setUpSnippets } from '../../domain/onboarding/snippets.ts'
import { openChromiumWithHistory, openFirefox, type PuppeteerInstance } from '../sdk/support/browsers.ts'
import type { RecordingService } from '../sdk/support/recording-service.ts'
import { openStage, type SdkStage } from '../sdk/support/stage.ts'
import { buildProject, serveProject, type RealProject } from './support/real-site.ts'

/** A page with the command of an installer, and one with that of a package. */
const TOOLS = ['Curl', 'Npm'] as const
type Shown = (typeof TOOLS)[number]

interface ProjectOf {
  readonly place: ScriptedPlace
  /** `command` gives the text for a page. */
  readonly project: (script: string, command: (tool: Shown) => string) => RealProject
  readonly serve: readonly string[]
  readonly pathOf: (tool: Shown) => string
  /** Of its own fence, or ours. */
  readonly button: (tool: Shown) => string
}

const FENCE_OR_OURS = (fence: string) => (tool: Shown) => (tool === 'Curl' ? fence : '[data-whence-copy]')
const OURS = () => '[data-whence-copy]'

const PROJECTS: readonly ProjectOf[] = [
  {
    place: 'NextJs',
    project: (script, command) => ({
      packages: ['next@16', 'react@19', 'react-dom@19'],
      files: {
        'app/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>',
        'app/layout.jsx': `export default function Layout({ children }) {\n  return (\n    <html lang="en">\n${script}\n<body>{children}</body></html>\n)}`,
        'app/page.jsx': 'export default function Home() { return <h1>Home</h1> }',
        ...Object.fromEntries(
          TOOLS.flatMap((tool) => [
            [`app/${tool}/install-command.jsx`, command(tool)],
            [
              `app/${tool}/page.jsx`,
              `import { InstallCommand } from './install-command'\nexport default function Page() { return <InstallCommand /> }`,
            ],
          ]),
        ),
      },
      build: ['next', 'build'],
    }),
    serve: ['next', 'start', '-p', 'PORT'],
    pathOf: (tool) => `/${tool}`,
    button: OURS,
  },
  {
    place: 'Astro',
    project: (script, command) => ({
      packages: ['astro@5'],
      files: {
        'src/layouts/Layout.astro': `<html lang="en"><head><link rel="icon" href="data:,">${script}</head><body><slot /></body></html>`,
        'src/pages/index.astro': `---\nimport Layout from '../layouts/Layout.astro'\n---\n<Layout><h1>Home</h1></Layout>`,
        ...Object.fromEntries(
          TOOLS.map((tool) => [
            `src/pages/${tool}.astro`,
            `---\nimport Layout from '../layouts/Layout.astro'\n---\n<Layout>${command(tool)}</Layout>`,
          ]),
        ),
      },
      build: ['astro', 'build'],
    }),
    serve: ['astro', 'preview', '--port', 'PORT'],
    pathOf: (tool) => `/${tool}/`,
    button: OURS,
  },
  {
    place: 'VitePress',
    project: (script, command) => ({
      packages: ['vitepress@1', 'vue@3'],
      files: {
        '.vitepress/config.mjs': `export default {\n${script}\n}`,
        'index.md': '# Home',
        ...Object.fromEntries(TOOLS.map((tool) => [`${tool}.md`, `# Install\n\n${command(tool)}\n`])),
      },
      build: ['vitepress', 'build'],
    }),
    serve: ['vitepress', 'preview', '--port', 'PORT'],
    pathOf: (tool) => `/${tool}.html`,
    button: FENCE_OR_OURS('.install button.copy'),
  },
  {
    place: 'Docusaurus',
    project: (script, command) => ({
      packages: ['@docusaurus/core@3', '@docusaurus/preset-classic@3', 'react@19', 'react-dom@19'],
      files: {
        // Its bundler takes the package for one of CommonJS.
        'package.json': '{"name":"site","private":true}',
        'docusaurus.config.js': `module.exports = { title: 'Docs', url: 'http://localhost', baseUrl: '/',
          ${script}
          presets: [['classic', { docs: { routeBasePath: '/', sidebarPath: undefined }, blog: false }]] }`,
        'docs/index.md': '---\nslug: /\n---\n# Home',
        ...Object.fromEntries(TOOLS.map((tool) => [`docs/${tool}.md`, `# Install\n\n${command(tool)}\n`])),
      },
      build: ['docusaurus', 'build'],
    }),
    serve: ['docusaurus', 'serve', '--port', 'PORT', '--no-open'],
    pathOf: (tool) => `/${tool}`,
    button: FENCE_OR_OURS('.install button[aria-label^="Copy"]'),
  },
]

describe('the snippets of the set-up in real projects', function () {
  this.timeout(900_000)
  let stage: SdkStage
  let service: RecordingService
  let folder: string

  before(async () => {
    stage = await openStage()
    ;({ service } = stage)
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-set-up-'))
  })
  after(async () => {
    await stage?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** As the page shows it. */
  function shown(step: 'script' | 'command', setUp: SetUp): string {
    const names = {
      baseUrl: service.url,
      website: 'acme-dev',
      path: null,
      installCommand: EXAMPLE_COMMANDS[setUp.tool],
    }
    return setUpSnippets(setUp, names).find((each) => each.step === step)?.text ?? ''
  }

  /** Opens a page, presses its button, and gives what is on the clipboard then. */
  async function copyAt(page: Page, address: string, button: string): Promise<string> {
    await page.goto(address)
    await service.waitFor('/v1/visits/activate')
    const [visit] = await service.waitFor('/v1/visits')
    expect(visit?.body.page_url).to.equal(address)
    // The command is in view, so the page asks for the token by itself.
    await service.waitFor('/v1/handoffs')
    await page.waitForFunction(`window.whence.fill('npm install -g x').includes('wht_')`)
    // Themes show the button of a fence when the pointer is there.
    await page.hover(button.startsWith('.install') ? '.install' : button)
    await page.bringToFront()
    const filled = page.evaluate(
      `new Promise((resolve) => addEventListener('whence:copy', (event) => resolve(event.detail.filled), { once: true }))`,
    )
    await page.click(button)
    expect(await filled).to.equal(true)
    const copied = await service.waitFor('/v1/handoffs', 2)
    expect(copied.at(-1)?.body.copied).to.equal(true)
    return String(await page.evaluate('navigator.clipboard.readText()'))
  }

  async function followAll(open: () => Promise<PuppeteerInstance>, origin: string, real: ProjectOf): Promise<void> {
    const { browser, close } = await open()
    try {
      for (const tool of TOOLS) {
        service.reset()
        const page = await browser.newPage()
        const problems: string[] = []
        // A driver's click is no gesture for Firefox: the page's own handler may not write then, and the script's older way does.
        page.on('pageerror', (error) => {
          if (!/NotAllowedError/.test(String(error))) problems.push(String(error))
        })
        if (open === openChromiumWithHistory)
          await browser
            .defaultBrowserContext()
            .overridePermissions(origin, ['clipboard-read', 'clipboard-sanitized-write'])
        const text = await copyAt(page, origin + real.pathOf(tool), real.button(tool))
        const token = /env WHENCE_HANDOFF=wht_[\w-]{43} /.exec(text)?.[0] ?? ''
        expect(text.replace(token, '')).to.equal(EXAMPLE_COMMANDS[tool])
        expect(problems).to.deep.equal([])
        await page.close()
      }
    } finally {
      await close()
    }
  }

  for (const real of PROJECTS)
    it(`${PLACE_TITLES[real.place]} records the visit, and the copied command carries its token`, async () => {
      const answered = (tool: Shown): SetUp => ({ place: real.place, tool, matching: 'TokensAndMarkers' })
      const home = path.join(folder, real.place)
      const script = shown('script', answered('Curl'))
      await buildProject(
        home,
        real.project(script, (tool) => shown('command', answered(tool))),
      )
      const { origin, stop } = await serveProject(home, real.serve)
      try {
        for (const open of [openChromiumWithHistory, openFirefox]) await followAll(open, origin, real)
      } finally {
        await stop()
      }
    })
})
