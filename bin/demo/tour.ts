/** A tour of the dashboard for the demo: signs in by a link, follows an install through the pages, and keeps a picture of each. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

interface Stop {
  /** Of the picture. */
  readonly name: string
  /** A link of the navigation, or of the page before. */
  readonly link: string
  /** How the title of the page begins. */
  readonly title: string
}

const STOPS: readonly Stop[] = [
  { name: '1-checklist', link: 'Checklist', title: 'Checklist' },
  { name: '2-funnel', link: 'Funnel', title: 'Funnel' },
  { name: '3-match-rate', link: 'Match rate', title: 'Match rate' },
  { name: '4-installs', link: 'Installs', title: 'Installs' },
  { name: '5-install', link: 'Installed', title: 'Installed' },
  { name: '6-deliveries', link: 'Deliveries', title: 'Deliveries' },
]

/** Paths of the pictures, in their order. Rejects if a page does not show itself. */
export async function tourDashboard(page: Page, link: string, folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const pictures: string[] = []
  for (const { name, link: text, title } of STOPS) {
    await page.getByRole('link', { name: text, exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: new RegExp(`^${title}`) }).waitFor()
    await page.locator('.loading').waitFor({ state: 'detached' })
    const path = join(folder, `${name}.png`)
    await page.screenshot({ path, fullPage: true })
    pictures.push(path)
  }
  return pictures
}
