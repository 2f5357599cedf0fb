/** Machines that made-up installs run on, and the products that are installed on them. */

import { DAY_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import type { CodingAgent } from '../../domain/model.ts'
import { pickWeighted, type Pen, type Weighted } from './day.ts'

/** What of an installation stays the same. */
export interface Machine {
  readonly installationId: string
  readonly product: Product
  readonly platform: string
  readonly arch: string
  readonly browsers: readonly string[]
  readonly timezone: string
  /** Where the command stood that was run; empty if it does not say. */
  readonly place: string
  readonly agent: CodingAgent | null
  readonly runsIn: RunsIn
}

/** `test`: it carries the mark of one. */
export type RunsIn = 'person' | 'ci' | 'container' | 'test'

/** The install path in the manifests of `examples/quickstart`. */
export interface Product {
  readonly installPath: string
  /** A version comes out every so many days. */
  readonly releaseDays: number
  readonly versionAt: (release: number) => string
}

const CLI: Product = {
  installPath: 'cli',
  releaseDays: 45,
  versionAt: (release) => `${Math.floor(release / 10) - 44}.${release % 10}.0`,
}
const AGENT: Product = { installPath: 'agent', releaseDays: 60, versionAt: (release) => `v0.${release - 320}.0` }
const PRODUCTS: Weighted<Product> = [
  [3, CLI],
  [1, AGENT],
]

/** The version that is the newest at this moment: versions come one after another. */
export function versionOn({ releaseDays, versionAt }: Product, atMs: number): string {
  return versionAt(Math.floor(atMs / DAY_MS / releaseDays))
}

/** A few days on which the agent's install path was paused: its installs are counted, and nothing of them is read. */
export function isPathPaused({ installPath }: Product, atMs: number): boolean {
  return installPath === AGENT.installPath && Math.floor(atMs / DAY_MS) % 91 < 3
}

const SYSTEMS: Weighted<readonly [platform: string, arch: string]> = [
  [5, ['linux', 'x86_64']],
  [4, ['darwin', 'arm64']],
  [1, ['linux', 'aarch64']],
  [1, ['darwin', 'x86_64']],
]
const BROWSERS: Weighted<readonly string[]> = [
  [5, ['chrome']],
  [2, ['chrome', 'firefox']],
  [2, ['firefox']],
  [2, []],
]
/** Countries are those of time zones; of UTC it is unknown. */
const TIME_ZONES: Weighted<string> = [
  [8, 'America/New_York'],
  [6, 'America/Los_Angeles'],
  [6, 'Europe/Berlin'],
  [4, 'Europe/London'],
  [3, 'Asia/Kolkata'],
  [3, 'Asia/Tokyo'],
  [2, 'Europe/Paris'],
  [2, 'America/Sao_Paulo'],
  [1, 'Australia/Sydney'],
  [3, 'UTC'],
  [1, ''],
]
const AGENTS: Weighted<CodingAgent | null> = [
  [16, null],
  [4, 'claude-code'],
  [2, 'codex'],
  [2, 'cursor'],
  [1, 'gemini-cli'],
  [1, 'other'],
]
const PLACES: Weighted<string> = [
  [5, ''],
  [4, 'readme'],
  [2, 'npm'],
  [1, 'conference-talk'],
]

/** Who copied the command from a page has no place. In CI nothing is looked for, so no browser is found. */
export function machineOf(pen: Pen, from: 'page' | 'place', runsIn: RunsIn = 'person'): Machine {
  const { day, random, nextNumber } = pen
  const [platform, arch] = pickWeighted(SYSTEMS, random)
  const isOfPerson = runsIn === 'person' || runsIn === 'test'
  return {
    installationId: `${EXAMPLE_DATA.idPrefix}${day.seed}-${day.dayMs / DAY_MS}-${nextNumber()}-machine`,
    product: pickWeighted(PRODUCTS, random),
    platform: isOfPerson ? platform : 'linux',
    arch,
    browsers: isOfPerson ? pickWeighted(BROWSERS, random) : [],
    timezone: isOfPerson ? pickWeighted(TIME_ZONES, random) : 'UTC',
    place: from === 'page' ? '' : pickWeighted(PLACES, random),
    agent: isOfPerson ? pickWeighted(AGENTS, random) : null,
    runsIn,
  }
}
