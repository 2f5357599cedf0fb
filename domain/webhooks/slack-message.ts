/**
 * Messages for Slack. What visitors, installers and members wrote stands in `plain_text` objects alone, where `<!channel>` is nine characters and no call
 * to everybody; the text of notifications, which Slack does read as markup, has words of ours alone. Limits are those of Slack's reference of
 * blocks: 50 blocks, 150 characters of a header, 3,000 of a text; that all texts together are bounded is not in it, but reported (slackapi/bolt-js#2509).
 */

import { END_WORDS } from '../alerts/alert-words.ts'
import { ALERT_ENDS } from '../alerts/alert.ts'
import { isText } from '../guards.ts'
import { LIMITS } from '../limits.ts'
import type { WebhookMessageType } from '../model.ts'
import { isObject } from '../strict-json.ts'
import type { WebhookPayload } from './payloads.ts'

interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

type SlackBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: PlainText }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] }

export interface SlackMessage {
  /** What a notification shows. */
  readonly text: string
  readonly blocks: readonly SlackBlock[]
}

/** The first line of a message of each type. */
const TITLES: { readonly [T in WebhookMessageType]: string } = {
  'install.matched': 'Installs of an hour',
  'install.unmatched': 'Installs of an hour',
  'delivery.failed': 'A delivery failed for good',
  'delivery.expired': 'A delivery came too late',
  'destination.paused': 'A destination paused itself',
  'quota.reached': 'The quota of the month',
  'limit.reached': 'A limit was reached',
  'plan.changed': 'The plan changed',
  'member.joined': 'A member joined',
  'stream.failing': 'A log stream is failing',
  'summary.weekly': 'Installs of a week',
  'website.not_accepted': 'A website is not accepted',
  'alert.opened': 'An alert was opened',
  'alert.closed': 'An alert was closed',
  test: 'A test',
}

/** IDs that nobody reads in a channel. */
const NOT_SHOWN = new Set(['alert', 'eventId', 'message', 'end', 'rule', 'of', 'value', 'expected', 'threshold'])

/** The message about one event. */
export function slackMessage({ type, timestamp, data }: WebhookPayload): SlackMessage {
  const { message, end } = data
  const facts = Object.entries(data).filter(([name]) => !NOT_SHOWN.has(name))
  const why = ALERT_ENDS.find((each) => each === end)
  const lines = [
    ...(isText(message) ? [message] : []),
    ...(why === undefined ? [] : [END_WORDS[why]]),
    ...facts.flatMap(([name, value]) => factLines(name, value)),
  ]
  return slackBlocks(TITLES[type], lines, timestamp)
}

/** Fields of a summary as people call them, and the numbers in them. */
const FIELD_NAMES = new Map([
  ['now', 'That week'],
  ['before', 'The week before'],
  ['changes', 'Changed'],
])
const NUMBER_NAMES = new Map([
  ['lookedUp', 'looked up'],
  ['knownSource', 'known source'],
])

/** A line for a value, and for each of several. */
function factLines(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => factLines(name, each))
  const text = isObject(value)
    ? Object.entries(value)
        .map(([field, own]) => `${NUMBER_NAMES.get(field) ?? field} ${String(own)}`)
        .join(', ')
    : String(value)
  return [`${FIELD_NAMES.get(name) ?? name}: ${text}`]
}

/** Counts of one website and source of a visit. */
export interface CountedSource {
  readonly website: string
  /** Empty: direct, or there is no visit. */
  readonly source: string
  readonly matched: number
  readonly unmatched: number
}

export interface InstallHour {
  /** Unix ms; a whole hour of UTC. */
  readonly sinceMs: number
  readonly rows: readonly CountedSource[]
}

/** Sources that are named of one website; the rest is summed up. */
const NAMED_SOURCES = 5

/** One message about all install events of an hour. */
export function slackHour({ sinceMs, rows }: InstallHour): SlackMessage {
  const lines = [...Map.groupBy(rows, ({ website }) => website)].map(([website, own]) => websiteLine(website, own))
  return slackBlocks(TITLES['install.matched'], lines, new Date(sinceMs).toISOString())
}

function websiteLine(website: string, rows: readonly CountedSource[]): string {
  const matched = rows.reduce((sum, row) => sum + row.matched, 0)
  const unmatched = rows.reduce((sum, row) => sum + row.unmatched, 0)
  const named = rows.filter((row) => row.matched > 0).toSorted((a, b) => b.matched - a.matched)
  const sources = named
    .slice(0, NAMED_SOURCES)
    .map(({ source, matched: count }) => `${source === '' ? 'Direct' : source} ${count}`)
  const others = named.slice(NAMED_SOURCES).reduce((sum, row) => sum + row.matched, 0)
  const all = [...sources, ...(others === 0 ? [] : [`others ${others}`])]
  return `${website}: ${matched} with a visit, ${unmatched} without${all.length === 0 ? '' : ` (${all.join(', ')})`}`
}

function slackBlocks(title: string, lines: readonly string[], timestamp: string): SlackMessage {
  const header = { type: 'header', text: plainObject(title, LIMITS.slackHeaderChars) } as const
  const when = { type: 'context', elements: [plainObject(timestamp, LIMITS.slackTextChars)] } as const
  const count = fittingLines(lines)
  const shown = lines.slice(0, count).filter((line) => line !== '')
  const left = lines.length > count ? [`${lines.length - count} more`] : []
  const sections = [...shown, ...left].map((line) => {
    return { type: 'section', text: plainObject(line, LIMITS.slackTextChars) } as const
  })
  return { text: title, blocks: [header, ...sections, when] }
}

/** How many of these lines one message has room for. Beside its blocks Slack counts all of their text, and takes some 13,000 characters. */
function fittingLines(lines: readonly string[]): number {
  // Besides there are the header, how many were left out, and the time.
  const room = LIMITS.slackBlocks - 3
  let chars = 0
  const end = lines.findIndex((line, place) => {
    chars += Math.min(line.length, LIMITS.slackTextChars)
    return place === room || chars > LIMITS.slackMessageChars
  })
  return end === -1 ? lines.length : end
}

function plainObject(text: string, most: number): PlainText {
  const cut = text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text
  return { type: 'plain_text', text: cut, emoji: false }
}
