/** One week of one product, made up by hand, and the page of the documentation that derives the numbers of its Overview from what happened. */

import { keepBook, rowsBy, totalOf, type Book, type Entry, type Period } from './world/book.ts'
import { stepsIn } from './world/calendar.ts'
import type { Overview } from './service/overview.ts'
import { counts, INSTALLS, objectIn, VISITS } from './service/surfaces.ts'
import { DAY, HOUR, WAYS, type Machine, type MachineEvent, type Visitor, type World } from './world/world.ts'

const MINUTE = HOUR / 60
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const HOME = 'https://acme.dev/'
const INSTALL = 'https://acme.dev/install'
const DOCS = 'https://docs.acme.dev/cli'

/** On a day of the week, from 0, at this time of it. */
type When = readonly [day: number, hour: number, minute: number]

interface Come {
  readonly name: string
  readonly when: When
  /** By its place in `WAYS`: newsletter, forum, ad, blog, podcast, and none. */
  readonly way: number
  readonly pages: readonly string[]
  readonly hasCopied?: boolean
  readonly looker?: Visitor['looker']
}

interface Installed {
  readonly name: string
  readonly from: { readonly visitor: string; readonly by: 'token' | 'marker' } | null
  readonly events: readonly (readonly [when: When, what: MachineEvent['what'], version: string])[]
  readonly isCi?: boolean
  readonly method?: Machine['method']
}

const COME: readonly Come[] = [
  { name: 'Ana', when: [0, 9, 0], way: 0, pages: [HOME, INSTALL], hasCopied: true },
  { name: 'Ben', when: [0, 14, 0], way: 1, pages: [DOCS], hasCopied: true },
  { name: 'Cleo', when: [1, 8, 30], way: 2, pages: [INSTALL] },
  { name: 'Dan', when: [1, 20, 10], way: 3, pages: [HOME, DOCS, HOME] },
  { name: 'Eva', when: [2, 11, 0], way: 5, pages: [INSTALL], hasCopied: true },
  { name: 'Finn', when: [3, 7, 45], way: 4, pages: [HOME] },
  { name: 'Finn on Friday', when: [4, 18, 20], way: 0, pages: [INSTALL] },
  { name: 'A crawler', when: [4, 3, 0], way: 5, pages: [HOME], looker: 'crawler' },
  { name: 'An assistant', when: [4, 12, 0], way: 5, pages: [DOCS], looker: 'assistant' },
]

const INSTALLED: readonly Installed[] = [
  {
    name: "Ana's laptop",
    from: { visitor: 'Ana', by: 'token' },
    events: [
      [[0, 9, 10], 'install_completed', '1.4.0'],
      [[0, 9, 20], 'first_run', '1.4.0'],
    ],
  },
  { name: "Ben's laptop", from: { visitor: 'Ben', by: 'token' }, events: [[[2, 10, 0], 'install_completed', '1.4.0']] },
  {
    name: "Ben's server",
    from: { visitor: 'Ben', by: 'token' },
    events: [[[2, 10, 30], 'install_completed', '1.4.0']],
  },
  {
    name: "Cleo's laptop",
    from: { visitor: 'Cleo', by: 'marker' },
    events: [
      [[3, 16, 0], 'install_completed', '1.4.0'],
      [[5, 9, 0], 'install_completed', '1.5.0'],
    ],
  },
  { name: 'The CI of a project', from: null, isCi: true, events: [[[4, 2, 0], 'install_completed', '1.5.0']] },
  { name: "A stranger's laptop", from: null, events: [[[4, 22, 0], 'install_completed', '1.5.0']] },
  {
    name: "Finn's laptop",
    from: { visitor: 'Finn on Friday', by: 'marker' },
    events: [
      [[5, 10, 0], 'first_run', '1.5.0'],
      [[5, 12, 0], 'install_completed', '1.5.0'],
    ],
  },
  {
    name: 'A machine at work',
    from: null,
    method: 'old',
    events: [[[6, 15, 0], 'install_completed', '1.5.0']],
  },
]

export interface Week {
  readonly world: World
  readonly period: Period
  /** Of visitors and machines, by their IDs. */
  readonly names: ReadonlyMap<number | string, string>
}

/** `startAt` is the midnight with which it begins. */
export function weekFrom(startAt: number): Week {
  const at = ([day, hour, minute]: When): number => startAt + day * DAY + hour * HOUR + minute * MINUTE
  const visitors = COME.map(({ name: _, when, way, pages, hasCopied = false, looker = 'person' }, id): Visitor => {
    const begin = at(when)
    const walk = pages.map((page, place) => ({ at: begin + place * 2 * MINUTE, page }))
    return {
      id,
      at: begin,
      way: WAYS[way] ?? neverAWay(way),
      walk,
      forgets: false,
      system: { says: 'macOS', called: 'macos' },
      looker,
      isPrivate: false,
      isTest: false,
      keepsMarker: looker !== 'crawler',
      isKnownToAds: false,
      heldFor: 0,
      copiedAt: hasCopied ? begin + 5 * MINUTE : null,
    }
  })
  const visitorOf = (name: string): Visitor => visitors[COME.findIndex((each) => each.name === name)] ?? neverAWay(-1)
  const machines = INSTALLED.map(({ from, events, isCi = false, method = 'cli' }, place): Machine => ({
    id: `machine-of-week-${place}`,
    system: place % 2 === 0 ? 'darwin' : 'linux',
    method,
    agent: '',
    place: '',
    zone: { says: 'Europe/Berlin', called: 'DE' },
    isCi,
    isContainer: false,
    isTest: false,
    events: events.map(([when, what, version], number) => ({
      id: `event-of-week-${place}-${number}`,
      at: at(when),
      what,
      version,
      // Only the first tells where it came from.
      lead: from === null || number > 0 ? null : { by: from.by, visitor: visitorOf(from.visitor) },
      comesTwice: false,
      heldFor: 0,
      unclearFor: 0,
    })),
  }))
  return {
    world: { visitors, machines, erasures: [], forgetsFrom: null, endsAt: startAt + 7 * DAY },
    period: { since: startAt, until: startAt + 7 * DAY },
    names: new Map<number | string, string>([
      ...COME.map(({ name }, id) => [id, name] as const),
      ...machines.map(({ id }, place) => [id, INSTALLED[place]?.name ?? ''] as const),
    ]),
  }
}

function neverAWay(way: number): never {
  throw new Error(`nobody comes by ${way}`)
}

const CALLED_WAYS = [
  'from the newsletter, campaign `launch`',
  'from a forum, link of campaign `show-hn`',
  'from a Google ad, tagged by Google alone',
  'from blog.example',
  'from a podcast, address with `?ref=podcast`',
  'by typing the address',
]

/** The page, with the numbers that the service showed. */
export function weekPage(week: Week, overview: Overview): string {
  const book = keepBook(week.world)
  const shown = { ...objectIn(overview.total['installs']), ...objectIn(overview.total['visits']) }
  const number = (name: string): number => counts(shown, [name])[name] ?? 0
  return [
    '# One week, by hand',
    '',
    '<!-- Made from a run of the service by `npm run -s docs-week`; do not change it here. -->',
    '',
    'A week of a made-up product, small enough to count on your fingers: what happened, and how each number of the [Overview](overview.md) follows from it. The numbers below were read from a running service.',
    '',
    '## What happened',
    '| When | Who | What |',
    '| --- | --- | --- |',
    ...happened().map((cells) => `| ${cells.join(' | ')} |`),
    '',
    '## The five numbers',
    '| Number | Shown | Why |',
    '| --- | --- | --- |',
    ...derived(week, book, number).map((cells) => `| ${cells.join(' | ')} |`),
    '',
    ...notCounted(week, book, number),
    '',
    '## Day by day',
    '| Day | Visits | Installs | Which |',
    '| --- | --- | --- | --- |',
    ...daily(week, book, overview).map((cells) => `| ${cells.join(' | ')} |`),
    '',
    '## What brought them',
    'An install counts on the day on which it came, under the campaign of its visit, which may be of an earlier day.',
    '',
    '| By | Row | Visits | Installs |',
    '| --- | --- | --- | --- |',
    ...panelLines(overview).map((cells) => `| ${cells.join(' | ')} |`),
    '',
    'The installs of each of these add up to Installs.',
    '',
  ].join('\n')
}

function happened(): readonly (readonly string[])[] {
  const lines = [
    ...COME.map(({ name, when, way, pages, hasCopied = false, looker = 'person' }) => {
      const seen = pages.map((page) => page.replace('https://', '')).join(', ')
      const copied = hasCopied ? '; copies the install command' : ''
      const came = looker === 'person' ? `comes ${CALLED_WAYS[way] ?? ''}, sees ${seen}${copied}` : `reads ${seen}`
      return { when, cells: [name, came] }
    }),
    ...INSTALLED.flatMap(({ name, from, events, isCi = false, method }) =>
      events.map(([when, what, version], place) => {
        const by = from?.by === 'token' ? `, by the command that ${from.visitor} copied` : ''
        const marked = from?.by === 'marker' ? `, in whose browser the visit left its marker` : ''
        const where = isCi ? ', a machine of continuous integration' : ''
        const paused = method === 'old' ? ', by an install method that is paused' : ''
        const lead = place === 0 ? by + marked : ''
        return { when, cells: [name, `${SAID[what](version)}${lead}${where}${paused}`] }
      }),
    ),
  ]
  const order = ([day, hour, minute]: When): number => (day * 24 + hour) * 60 + minute
  return lines.toSorted((a, b) => order(a.when) - order(b.when)).map(({ when, cells }) => [timeText(when), ...cells])
}

const SAID = {
  install_started: (version: string) => `starts the installer of ${version}`,
  install_completed: (version: string) => `completes the installer of ${version}`,
  first_run: (version: string) => `runs ${version} for the first time`,
} as const

function timeText([day, hour, minute]: When): string {
  return `${DAYS[day] ?? ''} ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

type Number = (name: string) => number

function derived({ names, period }: Week, book: Book, number: Number): readonly (readonly string[])[] {
  const installs = book.entries.filter(({ kind }) => kind === 'install')
  const called = (entries: readonly Entry[]): string => entries.map(({ machine }) => names.get(machine.id)).join(', ')
  const visitors = (some: readonly Visitor[]): string => some.map(({ id }) => names.get(id)).join(', ')
  const found = installs.filter(({ outcome }) => outcome === 'found')
  const lookedUp = installs.filter(({ outcome }) => outcome !== 'not looked up')
  const known = found.filter(({ visitor }) => visitor?.way.called.source !== '')
  const converted = book.visitors.filter((visitor) => found.some((install) => install.visitor === visitor))
  mustBe(number, totalOf(book, period))
  return [
    ['Installs', String(number('installs')), called(installs)],
    [
      'Match rate',
      `${number('matched')} of ${number('matched') + number('unmatched')}`,
      `With a visit: ${called(found)}. Looked up without one: ${called(lookedUp.filter((each) => !found.includes(each)))}. Not looked up, and so in neither number: ${called(installs.filter((each) => !lookedUp.includes(each)))}`,
    ],
    [
      'With a known source',
      String(number('known_source')),
      `${called(known)}: the visit of each says where it came from`,
    ],
    ['Visits', String(number('visits')), `${visitors(book.visitors)}. However many pages, each is one`],
    [
      'Conversion',
      `${number('converted')} of ${number('visits')}`,
      `Visits that led to an install within seven days: ${visitors(converted)}. Two machines by one visit are one`,
    ],
  ]
}

/** The service and the book say the same. */
function mustBe(number: Number, { installs, visits }: ReturnType<typeof totalOf>): void {
  for (const name of [...INSTALLS, ...VISITS]) {
    const kept = { ...installs, ...visits }[name]
    if (number(name) !== kept) throw new Error(`${name} is ${number(name)}, and by the book ${kept}`)
  }
}

function notCounted({ names }: Week, book: Book, number: Number): readonly string[] {
  const upgrades = book.entries.filter(({ kind }) => kind === 'upgrade')
  const named = upgrades.map(({ machine }) => names.get(machine.id)).join(', ')
  return [
    `Not among them: ${number('upgrades')} upgrade (${named}, on Saturday: a machine that had the product); the second event of Finn's laptop, which belongs to the install that its first run began; the CI; the crawler and the assistant, which are no visitors. ${number('copied')} visits copied the command, and one of these, Eva's, led to nothing.`,
  ]
}

function daily({ names, period }: Week, book: Book, overview: Overview): readonly (readonly string[])[] {
  return stepsIn('day', period).map((day, place) => {
    const step = overview.steps[place] ?? {}
    const shown = {
      visits: counts(objectIn(step['visits']) ?? {}, ['visits'])['visits'],
      installs: counts(objectIn(step['installs']) ?? {}, ['installs'])['installs'],
    }
    const kept = totalOf(book, day)
    if (shown.visits !== kept.visits['visits'] || shown.installs !== kept.installs['installs'])
      throw new Error(`${DAYS[place]} is not what the book has`)
    const installs = book.entries.filter(({ kind, at }) => kind === 'install' && at >= day.since && at < day.until)
    const which = installs.map(({ machine }) => names.get(machine.id)).join(', ')
    return [DAYS[place] ?? '', String(shown.visits), String(shown.installs), which]
  })
}

const ROWS: Readonly<Record<string, string>> = {
  direct: '*Direct*',
  no_campaign: '*No campaign*',
  none: '*None*',
  no_visit: '*No visit found*',
  not_looked_up: '*Not looked up*',
}
const PANELS: Readonly<Record<string, string>> = {
  campaign: 'Campaign',
  source: 'Source',
  landing_page: 'Landing page',
  path: 'Install method',
  version: 'Version',
}

function panelLines({ panels }: Overview): readonly (readonly string[])[] {
  return panels.flatMap(({ by, rows }) => {
    const title = PANELS[by]
    if (title === undefined) return []
    return rows.map(({ row, value, visits, installs }) => [
      title,
      ROWS[String(row)] ?? String(value),
      typeof visits === 'number' ? String(visits) : '–',
      String(installs),
    ])
  })
}

/** Throws if a panel has another row or number than the book. */
export function checkPanels({ world, period }: Week, { panels }: Overview): void {
  const book = keepBook(world)
  for (const { by, rows } of panels) {
    const kept = rowsBy(book, by, period)
    for (const { row, value, installs } of rows) {
      const is = kept.get(`${String(row)} ${String(value)}`)?.installs['installs'] ?? 0
      if (is !== installs) throw new Error(`${by}, ${String(value)}: ${String(installs)}, and by the book ${is}`)
    }
  }
}
