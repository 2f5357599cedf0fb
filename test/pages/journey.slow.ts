/** The whole way of two people through the dashboard without a mouse, on the whole service: from a mail to the end of every session. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { BrowserContext, Page } from 'playwright-core'

import { findChromium, launchChromium } from '../../bin/demo/chromium.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { startTestService, type TestService } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { startPostOffice, type PostOffice } from '../dashboard/support/post-office.ts'
import { organizationOf } from '../dashboard/support/stage.ts'
import { keyboardOf, type Keyboard } from './support/keyboard.ts'
import { seriousFindings } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const GUEST = 'guest@acme.dev'
const SHOP = 'https://shop.acme.example'
/** Nobody has this name: the attempt is made, and fails. */
const STREAM = `---
apiVersion: v1
kind: Secret
metadata: { name: archive }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
---
apiVersion: whence.dev/v1alpha1
kind: LogStream
metadata: { name: archive }
spec: { organizationRef: { name: acme }, displayName: Archive, webhook: { url: 'https://archive.example/logs', secretRef: { name: archive, key: secret } } }
`
const MANIFESTS = { 'acme.yaml': organizationOf('acme', { members: { [OWNER]: 'Owner' } }) + STREAM }

/** One person at one browser. */
interface Person {
  readonly page: Page
  readonly keys: Keyboard
  readonly noise: string[]
}

describe('the pages without a mouse', function () {
  // The whole service and two browsers start: seconds on a quiet machine, minutes on one that is not.
  this.timeout(300_000)
  let folder: string
  let mail: PostOffice
  let service: TestService
  const browsers: BrowserContext[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-journey-'))
    mail = await startPostOffice()
    const env = { WHENCE_SMTP_URL: mail.url, WHENCE_MAIL_FROM: 'Whence <whence@acme.dev>' }
    service = await startTestService({ manifests: MANIFESTS, env })
  })
  after(async () => {
    for (const browser of browsers) await browser.close()
    await service?.stop()
    await mail?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  /** A browser with a profile of its own, as of another machine. */
  async function sitDown(name: string): Promise<Person> {
    const browser = await launchChromium(await findChromium(process.env), join(folder, name), 'person')
    browsers.push(browser)
    const page = browser.pages()[0] ?? (await browser.newPage())
    page.setDefaultTimeout(90_000)
    const noise: string[] = []
    page.on('pageerror', (error) => noise.push(error.message))
    page.on('console', (message) => {
      // The sign-in page asks who is there; a browser logs the answer that nobody is.
      if (message.type() === 'error' && !message.text().includes('status of 401')) noise.push(message.text())
    })
    return { page, keys: keyboardOf(page), noise }
  }

  /** The link in the newest mail to this address that has one of this kind. */
  async function linkFor(email: string, kind: 'mail' | 'invitation'): Promise<string> {
    const pattern = new RegExp(`http://\\S+/sign-in#${kind}=\\S+`)
    const found = () => mail.mails.findLast((text) => text.includes(`To: ${email}`) && pattern.test(text))
    await until(() => found() !== undefined)
    return pattern.exec(found() ?? '')?.[0] ?? ''
  }

  async function signIn({ page, keys }: Person, email: string): Promise<void> {
    await keys.type(page.getByLabel('E-mail address'), email)
    await page.keyboard.press('Enter')
    await page.getByText('a mail with a link is on its way').waitFor()
    // A mail program opens it in the same tab; the page reads the part behind # only when it is loaded.
    const link = await linkFor(email, 'mail')
    await page.goto('about:blank')
    await page.goto(link)
    await keys.press(page.getByRole('button', { name: 'Sign in', exact: true }))
  }

  it('lead from a mail to a colleague, a website, its first install and its reasons, and out again', async () => {
    const owner = await sitDown('owner')
    const { page, keys } = owner
    const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

    // 1. Sign in, and invite a colleague.
    await page.goto(`${service.url}/sign-in`)
    await signIn(owner, OWNER)
    await title('Overview')
    await keys.go('m')
    await title('Members')
    await keys.press(page.getByRole('button', { name: 'Invite' }))
    await keys.type(page.getByLabel('E-mail address'), GUEST)
    await page.keyboard.press('Enter')
    await page.getByRole('rowheader', { name: GUEST }).waitFor()

    // 2. The colleague accepts in another browser.
    const guest = await sitDown('guest')
    await guest.page.goto(await linkFor(GUEST, 'invitation'))
    await signIn(guest, GUEST)
    await guest.keys.press(guest.page.getByRole('button', { name: 'Join' }))
    await guest.page.getByRole('heading', { level: 1, name: 'Checklist' }).waitFor()

    // 3. A website, until it is live in collection.
    await keys.go('r')
    await title('Resources')
    await keys.press(page.getByRole('link', { name: 'New website' }))
    await title('New website')
    await keys.type(page.getByLabel('Name', { exact: true }), 'shop')
    await keys.type(page.getByLabel('Name that people see'), 'Shop')
    await keys.type(page.getByLabel('Primary origin'), SHOP)
    await page.keyboard.press('Enter')
    await page.getByText(/Live in collection after [\d,]+ ms\./).waitFor()
    await page.getByText('Active', { exact: true }).waitFor()

    // 4. Its first install, which two pages show by themselves.
    await guest.keys.go('i')
    await guest.page.getByText('No install has been reported yet').waitFor()
    await keys.go('l')
    await page.getByText('Nothing came in the last half hour').waitFor()
    const about = { project: 'shop', page_url: `${SHOP}/install`, identities: {} }
    const receipts = [await activeReceipt(service.url, about, SHOP)]
    const event = eventBody({ project: 'shop', receipts, install_path: undefined })
    const { body, status } = await post(`${service.url}/v1/events`, event)
    expect([status, body['resolution']]).to.deep.equal([200, 'matched'])
    await page.getByRole('row', { name: /Install POST \/v1\/events/ }).waitFor()
    await guest.page.locator('table.installs').getByRole('link', { name: 'Installed' }).waitFor()

    // 5. Why it was matched.
    await keys.go('i')
    await title('Installs')
    await keys.press(page.locator('table.installs').getByRole('link', { name: 'Installed' }))
    await title('Installed')
    await page.getByText(/^Matched to a visit .* before from .*newsletter/).waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])

    // 6. What was asked and answered, as a file.
    await keys.go('o')
    await title('Logs')
    await page.getByRole('row', { name: /Install POST \/v1\/events/ }).waitFor()
    const coming = page.waitForEvent('download')
    await keys.press(page.getByRole('link', { name: 'Export exactly these' }))
    const file = await coming
    expect(await readFile(await file.path(), 'utf8')).to.include(String(event['event_id']))

    // 7. A test of the stream of logs, which the colleague sees among what happened.
    await guest.keys.go('a')
    await guest.page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
    await keys.go('e')
    await keys.press(page.getByRole('link', { name: 'Archive' }))
    await title('Archive')
    await keys.press(page.getByRole('button', { name: 'Send a test' }))
    await page.getByText('A test is on its way').waitFor()
    // What was never confirmed is asked first whether it wants records; nobody has this name.
    await page
      .getByRole('row', { name: /Verification request no answer/ })
      .first()
      .waitFor()
    await keys.go('a')
    await title('Activity')
    for (const { page: shown } of [owner, guest]) await shown.getByText(/^A test is sent, by /).waitFor()

    // 8. Out, in every browser of this person, and of nobody else.
    await keys.go('y')
    await title('Your account')
    await keys.press(page.getByRole('button', { name: 'Sign out everywhere' }))
    await page.getByLabel('E-mail address').waitFor()
    const isIn = (who: Page): Promise<number> => who.evaluate(`fetch('/api/me').then(({ status }) => status)`)
    expect([await isIn(page), await isIn(guest.page)]).to.deep.equal([401, 200])
    expect([...owner.noise, ...guest.noise]).to.deep.equal([])
  })
})
