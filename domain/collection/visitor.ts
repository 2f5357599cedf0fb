/** Who looked at a page, a person or a program, and on which platform: judged by what the browser says of itself. */

import type { JsonObject } from '../strict-json.ts'
import { isCrawler } from './crawlers.ts'

type VisitorPlatform = 'macos' | 'windows' | 'linux' | 'ios' | 'android'

/** Programs that open a page because a person asked for it, by the name in their User-Agent. */
const AGENTS = [
  'ChatGPT-User',
  'Claude-User',
  'Perplexity-User',
  'MistralAI-User',
  'Meta-ExternalFetcher',
  'GoogleAgent-Mariner',
  'Google-Agent',
  'Amzn-User',
  'Manus-User',
  'NovaAct',
  'Devin',
] as const

/** A script drives the browser. */
const AUTOMATION = 'automation'
const BOT = 'bot'

export interface Visitor {
  /** `VisitorPlatform`; empty if it is none of these, or not known. */
  readonly platform: string
  /** Empty for a person; else `bot`, `automation`, or the name of an agent. */
  readonly kind: string
}

interface Browser {
  readonly userAgent: string
  /** Its hints, as a visit keeps them. */
  readonly client: JsonObject
}

export function isBot({ kind }: Visitor): boolean {
  return kind === BOT
}

export function visitorOf(browser: Browser): Visitor {
  return { platform: platformOf(browser), kind: visitorKind(browser) }
}

const HINTED_PLATFORMS: ReadonlyMap<unknown, VisitorPlatform> = new Map([
  ['macOS', 'macos'],
  ['Windows', 'windows'],
  ['Linux', 'linux'],
  ['iOS', 'ios'],
  ['Android', 'android'],
])

/** In this order: Android calls itself Linux, too, and an iPhone says that it is like Mac OS X. */
const NAMED_PLATFORMS: readonly (readonly [VisitorPlatform, RegExp])[] = [
  ['android', /\bAndroid\b/],
  ['ios', /\b(?:iPhone|iPad|iPod)\b/],
  ['windows', /\bWindows\b/],
  ['macos', /\bMacintosh\b/],
  ['linux', /\bLinux\b|\bX11; (?!CrOS)/],
]

function platformOf({ userAgent, client }: Browser): string {
  const hinted = HINTED_PLATFORMS.get(client['platform'])
  if (hinted !== undefined) return hinted
  const platform = NAMED_PLATFORMS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? ''
  // An iPad says that it is a Mac, and no Mac has a touch screen.
  return platform === 'macos' && hasTouch(client['touch']) ? 'ios' : platform
}

function hasTouch(touch: unknown): boolean {
  return touch === true || (typeof touch === 'number' && touch > 0)
}

function visitorKind({ userAgent, client }: Browser): string {
  const agent = AGENTS.find((name) => userAgent.includes(name))
  if (agent !== undefined) return agent
  if (isCrawler(userAgent)) return BOT
  return client['automation'] === true ? AUTOMATION : ''
}
