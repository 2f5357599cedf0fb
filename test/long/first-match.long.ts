/** A founder's way from the page Welcome to the first matched install, on real projects, by nothing but the texts that the pages show. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { BrowserContext, Page } from 'playwright-core'

import { findChromium, launchChromium } from '../../bin/demo/chromium.ts'
import { runAtHome } from '../../bin/demo/machine.ts'
import { PLACE_TITLES } from '../../domain/onboarding/set-up-words.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { until } from '../../fixtures/until.ts'
import { startWhencectl, whencectl, type Running } from '../bin/support/run-whencectl.ts'
import { buildProject, serveProject } from './support/real-site.ts'
import { SET_UP_PROJECTS, type SetUpProject } from './support/set-up-projects.ts'

describe('from Welcome to the first matched install', function () {
  this.timeout(900_000)
  let folder: string
  let service: string
  let program: Running
  let browser: BrowserContext
  let downloads: Server
  let installer: string
  let downloadPort: number

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-first-match-'))
    // Nothing is declared: everything is made on the pages.
    await mkdir(join(folder, 'manifests'))
    const port = await freePort()
    service = `http://127.0.0.1:${port}`
    program = startWhencectl([
      'embedded',
      '--listen',
      `127.0.0.1:${port}`,
      '--metrics-listen',
      '127.0.0.1:0',
      '--manifests',
      join(folder, 'manifests'),
      '--data',
      join(folder, 'data'),
      '--dashboard-folder',
      join(folder, 'data/dashboard'),
      '--sign-up',
      'Open',
      '--default-plan',
      'Enterprise',
    ])
    await until(() =>
      fetch(`${service}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    downloads = createServer((_request, response) => response.end(installer))
    downloadPort = await freePort()
    await new Promise<void>((done) => downloads.listen(downloadPort, '127.0.0.1', done))
    browser = await launchChromium(await findChromium(process.env), join(folder, 'home'), 'person')
  })
  after(async () => {
    await browser?.close()
    downloads?.closeAllConnections()
    downloads?.close()
    program?.child.kill('SIGTERM')
    await program?.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  /** A person of whom the service knows nothing but the address. */
  async function signIn(email: string): Promise<Page> {
    const { stdout, stderr } = await whencectl(['sign-in-link', '--data', join(folder, 'data'), '--email', email])
    const link = /(http\S+)/.exec(stdout)?.[1]
    if (link === undefined) throw new Error(stderr)
    const page = await browser.newPage()
    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
    return page
  }

  const step = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })

  /** The text of a step, as it is shown. */
  async function textOf(page: Page, title: string): Promise<string> {
    const text = step(page, title).locator('.snippet pre').last()
    if (!(await text.isVisible())) await step(page, title).locator('summary').click()
    return (await text.textContent()) ?? ''
  }

  async function setUp(page: Page, real: SetUpProject, origin: string) {
    await page.getByLabel('Name', { exact: true }).fill(`A founder with ${PLACE_TITLES[real.place]}`)
    await page.getByRole('textbox', { name: 'Website' }).fill(origin)
    await page.getByRole('button', { name: 'Make it' }).click()
    await page.waitForURL('**/checklist')
    await page.getByRole('radio', { name: PLACE_TITLES[real.place] }).check()
    await page.getByRole('radio', { name: 'curl' }).check()
    await page.getByRole('radio', { name: 'Tokens and markers' }).check()
    await page.getByLabel('Your install command').fill(`curl -fsSL http://127.0.0.1:${downloadPort}/install.sh | sh`)
    await until(async () => (await textOf(page, 'Visitors copy the install command')).includes(String(downloadPort)))
    return {
      script: await textOf(page, 'The script is on your website'),
      command: await textOf(page, 'Visitors copy the install command'),
      line: await textOf(page, 'The installer reports'),
    }
  }

  /** Visits the page, copies its command, and runs that. */
  async function install(address: string, button: string): Promise<string> {
    const site = await browser.newPage()
    const answered = (path: string) => site.waitForResponse((response) => response.url().endsWith(path))
    const ready = Promise.all([answered('/v1/visits/activate'), answered('/v1/handoffs')])
    await site.goto(address)
    await ready
    await site.bringToFront()
    await until(async () => {
      await site.hover(button.startsWith('.install') ? '.install' : button)
      await site.click(button)
      return (await site.evaluate<string>('navigator.clipboard.readText()')).includes('wht_')
    })
    const command = await site.evaluate<string>('navigator.clipboard.readText()')
    await site.close()
    return runAtHome(command, join(folder, 'home'))
  }

  for (const [index, real] of SET_UP_PROJECTS.entries())
    it(`${PLACE_TITLES[real.place]}: every step up to the match turns green by what happened`, async () => {
      const page = await signIn(`founder-${index}@person.dev`)
      const port = await freePort()
      const origin = `http://localhost:${port}`
      const { script, command, line } = await setUp(page, real, origin)
      installer = `#!/bin/sh\nset -eu\necho installed\n${line}\n`
      const home = join(folder, real.place)
      await buildProject(
        home,
        real.project(script, () => command),
      )
      const { stop } = await serveProject(home, real.serve, port)
      try {
        expect(await install(origin + real.pathOf('Curl'), real.button('Curl'))).to.include('installed')
        await page.bringToFront()
        await step(page, 'An install is matched to its visit')
          .getByRole('link', { name: '1 matched install' })
          .waitFor()
        await page.getByText('6 of 8 steps are done').waitFor()
      } finally {
        await stop()
      }
      await browser.clearCookies()
      await page.close()
    })
})
