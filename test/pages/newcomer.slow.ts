/** What somebody does who has just typed `make run`: clicks, and one line in a shell, until the funnel has counted them. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { BrowserContext, Page } from 'playwright-core'

import { findChromium, launchChromium } from '../../bin/demo/chromium.ts'
import { runAtHome } from '../../bin/demo/machine.ts'
import { copyQuickstart } from '../../bin/demo/quickstart.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { until } from '../../fixtures/until.ts'
import { startWhencectl, type Running } from '../bin/support/run-whencectl.ts'

describe('a newcomer to the pages', function () {
  // The whole program and a browser start: seconds on a quiet machine, minutes on one that is not.
  this.timeout(300_000)
  let folder: string
  let program: Running
  let browser: BrowserContext
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-newcomer-'))
    const port = await freePort()
    const sitePort = await freePort()
    await copyQuickstart(join(folder, 'manifests'), sitePort)
    // As `make run` does, on ports and in folders of its own.
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
      '--example-site',
      `127.0.0.1:${sitePort}`,
    ])
    browser = await launchChromium(await findChromium(process.env), join(folder, 'home'), 'person')
  })
  after(async () => {
    await browser?.close()
    program?.child.kill('SIGTERM')
    await program?.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  /** What the terminal says, once it says it. */
  async function printed(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(program.stdout()))
    return pattern.exec(program.stdout())?.[1] ?? ''
  }

  const step = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })

  it('gets from the terminal to a funnel that has counted them, only by visible links and buttons', async () => {
    const noise: string[] = []
    const dashboard = await browser.newPage()
    dashboard.on('pageerror', (error) => noise.push(error.message))
    dashboard.on('console', (message) => {
      if (message.type() === 'error') noise.push(message.text())
    })

    // 1. The link that the terminal ends with, and the one button there.
    await dashboard.goto(await printed(/sign in to the dashboard.*: (http\S+)/))
    await dashboard.getByRole('button', { name: 'Sign in' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await dashboard.getByRole('link', { name: 'checklist', exact: true }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Checklist' }).waitFor()
    await step(dashboard, 'The script is on your website').getByText('waiting for it').waitFor()

    // 2. The page that the terminal names, and its copy button.
    const site = await browser.newPage()
    await site.bringToFront()
    const answered = (path: string) => site.waitForResponse((response) => response.url().endsWith(path))
    const ready = Promise.all([answered('/v1/visits/activate'), answered('/v1/handoffs')])
    await site.goto(await printed(/^ {7}(http\S+)$/m))
    // The page asks for the token by itself, since the command is in sight.
    await ready
    await until(async () => {
      await site.getByRole('button', { name: 'Copy' }).click()
      return site.getByText('Copied, with a token of this visit.').isVisible()
    })
    const command = await site.evaluate<string>('navigator.clipboard.readText()')

    // 3. What was copied, in a shell.
    await runAtHome(command, join(folder, 'home'))

    // 4. Back to the dashboard, where nothing was pressed meanwhile.
    await dashboard.bringToFront()
    await step(dashboard, 'An install is matched to its visit')
      .getByRole('link', { name: '1 matched install' })
      .waitFor()
    await dashboard.getByRole('link', { name: 'Funnel', exact: true }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Funnel' }).waitFor()
    for (const reached of ['Visited', 'Copied', 'Installed']) {
      const counted = dashboard.getByRole('link', { name: new RegExp(`^${reached}`) }).locator('.count')
      await until(async () => (await counted.textContent()) === '1')
    }

    // 5. One of its numbers leads to the visit, that to its install, and this says why it was matched.
    await dashboard.getByRole('link', { name: /^Installed/ }).click()
    await dashboard.locator('table.visits').getByRole('link', { name: 'its installs' }).click()
    await dashboard.locator('table.installs').getByRole('link', { name: 'Installed' }).click()
    await dashboard.getByText('The install command carried the token of this very visit.').first().waitFor()
    expect(noise).to.deep.equal([])
  })
})
