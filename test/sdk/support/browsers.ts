/** Starts the two real browsers with a fresh profile each, and finds in a profile what a page has left there. */

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { chromium } from 'playwright-core'
import type { BrowserContext } from 'playwright-core'
import puppeteer from 'puppeteer-core'
import type { Browser } from 'puppeteer-core'
import { CHROMIUM_OF_PERSON } from '../../../bin/demo/chromium.ts'
import { LIMITS } from '../../../domain/limits.ts'

const CHROMIUM = '/usr/bin/chromium'
const FIREFOX = '/usr/bin/firefox-esr'

/** Quiet and self-contained: no first-run pages, no background traffic. */
const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  CHROMIUM_OF_PERSON,
]

export interface ChromiumInstance {
  readonly context: BrowserContext
  readonly profile: string
  readonly close: () => Promise<void>
}

export interface PuppeteerInstance {
  readonly browser: Browser
  readonly profile: string
  readonly close: () => Promise<void>
}

/** With a clipboard that tests may read. */
export async function openChromium(): Promise<ChromiumInstance> {
  const profile = await newProfile('chromium')
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: CHROMIUM_ARGUMENTS,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  return { context, profile, close: async () => remove(profile, () => context.close()) }
}

/** With the back/forward cache and prerendering, which only this driver can follow. */
export async function openChromiumWithHistory(): Promise<PuppeteerInstance> {
  const profile = await newProfile('chromium')
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    userDataDir: profile,
    args: CHROMIUM_ARGUMENTS,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  return { browser, profile, close: async () => remove(profile, () => browser.close()) }
}

interface FirefoxChoice {
  readonly isPrivate?: boolean
  /** What pages see as `prefers-color-scheme`. */
  readonly scheme?: 'light' | 'dark'
}

/** Values of Firefox's own setting. */
const SCHEME_CODES = { dark: 0, light: 1 } as const

/** With a clipboard that tests may read. */
export async function openFirefox({
  isPrivate = false,
  scheme = 'light',
}: FirefoxChoice = {}): Promise<PuppeteerInstance> {
  const profile = await newProfile('firefox')
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    userDataDir: profile,
    extraPrefsFirefox: {
      'dom.events.testing.asyncClipboard': true,
      'browser.privatebrowsing.autostart': isPrivate,
      'layout.css.prefers-color-scheme.content-override': SCHEME_CODES[scheme],
      'datareporting.policy.dataSubmissionEnabled': false,
      'app.update.disabledForTesting': true,
    },
  })
  return { browser, profile, close: async () => remove(profile, () => browser.close()) }
}

/** The files of a marker's size in a profile that begin like one. */
export async function markersOnDisk(profile: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(profile, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const isOwn = /\/File System\/\d{3}\/t\/\d{2}\/\d+$|\/storage\/default\/[^/]+\/fs\/[A-Z2-7]{2}\/[A-Z2-7]{52}$/.test(
      file,
    )
    if (!isOwn || (await stat(file)).size !== LIMITS.markerBytes) continue
    const text = await readFile(file, 'utf8')
    if (text.startsWith('{"format":"opfs-install-attribution"')) found.push(text)
  }
  return found
}

async function newProfile(name: string): Promise<string> {
  for (const program of [CHROMIUM, FIREFOX])
    if (!existsSync(program)) throw new Error(`${program} is needed for this test`)
  return mkdtemp(path.join(os.tmpdir(), `whence-sdk-${name}-`))
}

async function remove(profile: string, stop: () => Promise<void>): Promise<void> {
  await stop()
  // The browser's last child may still be writing.
  await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
