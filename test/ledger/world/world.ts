/**
 * What happened to a product over some days, in words of its own: visitors, what they copied, and machines on which the product was
 * installed. Nothing here is code of the product, so that an error of the product cannot be in both.
 */

const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A way on which somebody reaches the website, and what a marketer would call it. */
export interface Way {
  readonly tags: Readonly<Record<string, string>>
  readonly ref?: string
  readonly click?: string
  readonly from: string
  /** Empty words: there is none. */
  readonly called: {
    readonly source: string
    readonly medium: string
    readonly channel: string
    readonly campaign: string
    readonly term: string
    readonly content: string
    readonly referrer: string
  }
}

const NOTHING = { source: '', medium: '', channel: 'Direct', campaign: '', term: '', content: '', referrer: '' }

export const WAYS: readonly Way[] = [
  {
    tags: { source: 'newsletter', medium: 'email', campaign: 'launch', content: 'top' },
    from: '',
    called: {
      ...NOTHING,
      source: 'newsletter',
      medium: 'email',
      channel: 'Email',
      campaign: 'launch',
      content: 'top',
    },
  },
  {
    tags: { source: 'hn', medium: 'social', campaign: 'show-hn', term: 'cli' },
    from: 'https://forum.example/item',
    called: {
      source: 'hn',
      medium: 'social',
      channel: 'Organic Social',
      campaign: 'show-hn',
      term: 'cli',
      content: '',
      referrer: 'forum.example',
    },
  },
  {
    tags: {},
    click: 'gclid',
    from: '',
    called: {
      ...NOTHING,
      source: 'google',
      medium: 'cpc',
      channel: 'Paid Search',
      campaign: '(Google Ads, auto-tagged)',
    },
  },
  {
    tags: {},
    from: 'https://blog.example/a-post',
    called: {
      ...NOTHING,
      source: 'blog.example',
      medium: 'referral',
      channel: 'Referral',
      referrer: 'blog.example',
    },
  },
  {
    tags: {},
    ref: 'podcast',
    from: '',
    called: { ...NOTHING, source: 'podcast', medium: 'referral', channel: 'Referral' },
  },
  { tags: {}, from: '', called: NOTHING },
]

/** What a browser says of its system, and what that is called. */
const SYSTEMS = [
  { says: 'macOS', called: 'macos' },
  { says: 'Windows', called: 'windows' },
  { says: 'Linux', called: 'linux' },
] as const

/** On both of the website's origins. */
const PAGES = ['https://acme.dev/', 'https://acme.dev/install', 'https://docs.acme.dev/cli'] as const
/** Who looks at a page. Only people are visitors in figures; a script may lead to an install like anybody. */
const LOOKERS = ['person', 'crawler', 'assistant', 'script'] as const
const ZONES = [
  { says: 'Europe/Berlin', called: 'DE' },
  { says: 'America/New_York', called: 'US' },
  { says: 'UTC', called: '' },
] as const

/** A page, and when it was looked at. */
export interface PageLook {
  readonly at: number
  readonly page: string
}

/** What a process of the service has answered, and can pass on to the others only so much later; 0: at once. */
interface PassedOn {
  readonly heldFor: number
}

export interface Visitor extends PassedOn {
  readonly id: number
  readonly at: number
  readonly way: Way
  /** The pages that were looked at, the first of them at `at`. */
  readonly walk: readonly PageLook[]
  /** The browser keeps nothing between pages. */
  readonly forgets: boolean
  readonly system: (typeof SYSTEMS)[number]
  readonly looker: (typeof LOOKERS)[number]
  /** The browser asks not to be shared with others, which changes no figure. */
  readonly isPrivate: boolean
  /** Somebody of the house tries the set-up. */
  readonly isTest: boolean
  /** The browser keeps a marker. */
  readonly keepsMarker: boolean
  /** A network of ads knows the browser, and the website lets it. */
  readonly isKnownToAds: boolean
  /** The install command was copied, at this time. */
  readonly copiedAt: number | null
}

/** How an event of a machine can be led back to a visitor. */
export type Lead = { readonly by: 'token' | 'marker'; readonly visitor: Visitor } | null

export interface MachineEvent extends PassedOn {
  readonly id: string
  readonly at: number
  readonly what: 'install_started' | 'install_completed' | 'first_run'
  readonly version: string
  readonly lead: Lead
  /** The hook's request arrives a second time, as a proxy may send it. */
  readonly comesTwice: boolean
  /** What receipts say cannot be looked up so long from the event on; 0: it can. */
  readonly unclearFor: number
}

export interface Machine {
  readonly id: string
  readonly system: 'linux' | 'darwin'
  /** The install method; the one named `old` is paused: nothing is looked up for it. */
  readonly method: 'cli' | 'brew' | 'old'
  /** Name of the coding agent that ran the installer; empty: a person. */
  readonly agent: string
  readonly place: string
  readonly zone: (typeof ZONES)[number]
  /** Where nobody chose to install anything: continuous integration, or a container. */
  readonly isCi: boolean
  readonly isContainer: boolean
  /** Of somebody of the house, who marks each event as a test. */
  readonly isTest: boolean
  readonly events: readonly MachineEvent[]
}

/** People want their data erased: that of machines, or of visitors by the page from which an install could be led back. */
export interface Erasure {
  readonly at: number
  readonly machines: readonly Machine[]
  readonly visitors: readonly Visitor[]
}

export interface World {
  readonly visitors: readonly Visitor[]
  readonly machines: readonly Machine[]
  readonly erasures: readonly Erasure[]
  /** From this day on the website keeps thirty days; null: it keeps all of the world. */
  readonly forgetsFrom: number | null
  /** By then everything has come that was held back. */
  readonly endsAt: number
}

/** The same world for the same seed. `startAt` and all that follows are Unix ms. */
export function liveThrough(seed: number, { startAt, days, visitors, isTroubled = false }: WorldSize): World {
  const dice = diceOf(seed, isTroubled)
  const people = Array.from({ length: visitors }, (_, id) => visitorOf(dice, { id, startAt, days }))
  const copied = people.filter(({ copiedAt }) => copiedAt !== null)
  const marked = people.filter(({ keepsMarker, looker }) => keepsMarker && looker !== 'crawler')
  const machines: Machine[] = []
  const add = (lead: Lead, at: number): void => void machines.push(machineOf(dice, machines.length, { lead, at }))
  for (const visitor of copied) {
    // A command in a README is run by many, one on a page by its reader or by nobody.
    const runs = dice.pick([0, 1, 1, 1, 3])
    for (let run = 0; run < runs; run += 1) add({ by: 'token', visitor }, after(visitor.copiedAt, dice))
  }
  for (const visitor of marked) if (dice.oneIn(4)) add({ by: 'marker', visitor }, after(leadPage(visitor).at, dice))
  const strangers = Math.floor(visitors / 6)
  for (let each = 0; each < strangers; each += 1) add(null, startAt + dice.below(days * DAY))
  const endAt = startAt + days * DAY
  const lived = machines.map((machine) => until(endAt, machine))
  if (!isTroubled) return { visitors: people, machines: lived, erasures: [], forgetsFrom: null, endsAt: endAt }
  const forgetsFrom = startAt + (days - 6) * DAY
  // Whoever wants it has been there.
  const shy = people.filter(
    ({ keepsMarker, copiedAt }) => keepsMarker && copiedAt !== null && copiedAt < forgetsFrom + 3 * DAY,
  )
  return {
    visitors: people,
    machines: lived,
    erasures: [
      { at: forgetsFrom + 2 * DAY, machines: lived.filter((_, at) => at % 9 === 0), visitors: [] },
      { at: forgetsFrom + 3 * DAY, machines: [], visitors: shy.filter((_, at) => at % 4 === 0) },
    ],
    forgetsFrom,
    endsAt: endAt,
  }
}

interface WorldSize {
  readonly startAt: number
  readonly days: number
  readonly visitors: number
  /** Things come late, cannot be decided at once, are erased and expire. */
  readonly isTroubled?: boolean
}

function after(at: number | null, dice: Dice): number {
  return (at ?? 0) + 1_000 + dice.below(dice.oneIn(5) ? 3 * DAY : HOUR)
}

function until(endAt: number, machine: Machine): Machine {
  return { ...machine, events: machine.events.filter(({ at }) => at < endAt) }
}

function visitorOf(
  dice: Dice,
  { id, startAt, days }: { readonly id: number; readonly startAt: number; readonly days: number },
): Visitor {
  const at = startAt + dice.below(days * DAY - 6 * HOUR)
  const looker = dice.oneIn(6) ? dice.pick(LOOKERS) : 'person'
  const forgets = dice.oneIn(8)
  const walk = walkFrom(at, looker === 'person' ? dice.pick([1, 1, 2, 3, 7]) : 1, dice)
  const leadAt = (forgets ? walk[0] : walk.at(-1))?.at ?? at
  return {
    id,
    at,
    way: dice.pick(WAYS),
    walk,
    forgets,
    system: dice.pick(SYSTEMS),
    looker,
    isPrivate: dice.oneIn(6),
    isTest: looker === 'person' && dice.oneIn(20),
    keepsMarker: looker !== 'crawler' && !dice.oneIn(4),
    isKnownToAds: !dice.oneIn(3),
    heldFor: dice.trouble(6, 2 * DAY),
    copiedAt: looker !== 'crawler' && dice.oneIn(3) ? leadAt + 1_000 + dice.below(HOUR) : null,
  }
}

/** Nobody waits for half an hour between two pages of one visit. */
function walkFrom(at: number, pages: number, dice: Dice): readonly PageLook[] {
  const walk: PageLook[] = []
  for (let next = at; walk.length < pages; next += 1_000 + dice.below(29 * MINUTE))
    walk.push({ at: next, page: dice.pick(PAGES) })
  return walk
}

/** The page whose receipt leads an install back to the visitor: the last that belongs to the visit. */
export function leadPage({ walk, forgets }: Visitor): PageLook {
  const look = forgets ? walk[0] : walk.at(-1)
  if (look === undefined) throw new Error('a visitor looked at no page')
  return look
}

function machineOf(dice: Dice, number: number, { lead, at }: { readonly lead: Lead; readonly at: number }): Machine {
  const method = dice.oneIn(12) ? 'old' : dice.pick(['cli', 'cli', 'brew'] as const)
  return {
    id: `machine-${String(number).padStart(6, '0')}`,
    system: dice.pick(['linux', 'darwin'] as const),
    method,
    agent: dice.oneIn(6) ? 'cursor' : '',
    place: dice.oneIn(5) ? 'readme' : '',
    zone: dice.pick(ZONES),
    isCi: dice.oneIn(15),
    isContainer: dice.oneIn(25),
    // Whoever only came from a marked page is counted like anybody: here, both are.
    isTest: lead?.visitor.isTest === true,
    events: eventsOf(dice, number, { lead, at }),
  }
}

/** The life of a product on one machine. */
function eventsOf(
  dice: Dice,
  number: number,
  { lead, at }: { readonly lead: Lead; readonly at: number },
): readonly MachineEvent[] {
  const events: MachineEvent[] = []
  const add = (
    what: MachineEvent['what'],
    inMs: number,
    more: { readonly lead: Lead; readonly version: string },
  ): void =>
    void events.push({
      id: `event-${number}-${events.length}`,
      at: at + inMs,
      what,
      comesTwice: dice.oneIn(10),
      heldFor: dice.trouble(5, 3 * DAY),
      unclearFor: more.lead === null ? 0 : dice.trouble(3, HOUR / 2),
      ...more,
    })
  const version = dice.pick(['1.4.0', '1.5.0', ''])
  const life = dice.below(8)
  if (dice.oneIn(3)) add('install_started', 0, { lead, version })
  if (life === 0) {
    // A package manager ran nothing of ours: the product reports itself when it runs, and the installer only later.
    add('first_run', 2_000, { lead, version })
    if (dice.oneIn(2)) add('install_completed', 2 * HOUR, { lead: null, version })
  } else if (life === 1) {
    // The installer knew of nothing; the product passed the token on.
    add('install_completed', 2_000, { lead: null, version })
    add('first_run', 20 * HOUR, { lead, version })
  } else {
    add('install_completed', 2_000, { lead, version })
    if (life < 6) add('first_run', 2_000 + dice.below(2 * HOUR) + 1, { lead: null, version })
  }
  if (dice.oneIn(5)) add('install_completed', 30 * HOUR, { lead: null, version: '2.0.0' })
  if (dice.oneIn(6)) add('install_completed', 50 * HOUR, { lead: null, version: dice.oneIn(2) ? 'v2.0.0' : version })
  // So much later that only what is kept of the machine tells what it is.
  if (dice.trouble(3, 1) > 0) add('install_completed', 25 * DAY, { lead: null, version: '3.0.0' })
  if (dice.trouble(3, 1) > 0) add('install_completed', 33 * DAY, { lead: null, version: '3.1.0' })
  return events
}

interface Dice {
  readonly below: (bound: number) => number
  readonly oneIn: (count: number) => boolean
  readonly pick: <T>(of: readonly T[]) => T
  /** For one in so many something between half as long and as long; 0 for the others, and where there is no trouble. */
  readonly trouble: (count: number, longest: number) => number
}

/** Marsaglia's xorshift of 32 bits. */
function diceOf(seed: number, isTroubled: boolean): Dice {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  const next = (): number => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    below,
    oneIn: (count) => below(count) === 0,
    trouble: (count, longest) =>
      isTroubled && below(count) === 0 ? Math.ceil(longest / 2) + below(Math.ceil(longest / 2)) : 0,
    pick: (of) => {
      const picked = of[below(of.length)]
      if (picked === undefined) throw new Error('there is nothing to pick from')
      return picked
    },
  }
}
