/** The snippets of the set-up, pasted as they are shown into real projects, in both browsers: the visit is recorded, and the copied command carries its token. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Page } from 'puppeteer-core'
import type { SetUp } from '../../domain/onboarding/choices.ts'
import { EXAMPLE_COMMANDS, PLACE_TITLES } from '../../domain/onboarding/set-up-words.ts'
import { setUpSnippets } from '../../domain/onboarding/snippets.ts'
import { openChromiumWithHistory, openFirefox, type PuppeteerInstance } from '../sdk/support/browsers.ts'
import type { RecordingService } from '../sdk/support/recording-service.ts'
import { openStage, type SdkStage } from '../sdk/support/stage.ts'
import { buildProject, serveProject } from './support/real-site.ts'
import { SET_UP_PROJECTS, SHOWN_TOOLS, type SetUpProject, type ShownTool } from './support/set-up-projects.ts'

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

  async function followAll(open: () => Promise<PuppeteerInstance>, origin: string, real: SetUpProject): Promise<void> {
    const { browser, close } = await open()
    try {
      for (const tool of SHOWN_TOOLS) {
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

  for (const real of SET_UP_PROJECTS)
    it(`${PLACE_TITLES[real.place]} records the visit, and the copied command carries its token`, async () => {
      const answered = (tool: ShownTool): SetUp => ({ place: real.place, tool, matching: 'TokensAndMarkers' })
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
