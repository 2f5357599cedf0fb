/** What places of ads were told of installs, on the page Deliveries and at the places themselves, against the book. */

import { expect } from 'chai'

import { until } from '../../../fixtures/until.ts'
import type { AdServer } from '../service/ads.ts'
import { entriesIn, judgedEvents, keepBook, type Book, type Period } from '../world/book.ts'
import { choiceText, chosen, CHOICES, type Choice } from '../world/choice.ts'
import { ALL, PERIODS, wordsOf, type Ledger } from '../service/stage.ts'
import type { Row } from '../service/surfaces.ts'
import { HOUR } from '../world/world.ts'
import { outcomeOf, outcomeOfInstall, PLACES, tally, type AdPlace, type AskedPlace } from '../world/told.ts'

/** That installs may have besides a reason for which they were skipped. */
const ENDS = ['delivered', 'failed', 'expired', 'waiting']

export function toldSuite(ledgerOf: () => Ledger, adsOf: () => AdServer): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })

  const mustBeAt = (place: AdPlace): Tally => tallyOf(book, place, ALL)

  const tallyOf = (kept: Book, place: AdPlace, period: Period): Tally =>
    tallyAt(kept, { place, now: ledgerOf().now }, period)
  const told = (place: AdPlace, period: Period, choices: readonly Choice[] = []): Promise<Tally> =>
    toldAt(ledgerOf(), place, { period, choices })

  it('has some of every outcome, or it would prove nothing', () => {
    const all = PLACES.flatMap((place) => Object.keys(mustBeAt(place)))
    expect(all).to.include.members([
      ...ENDS,
      'destination_paused',
      'event_type_not_selected',
      'counted',
      'unmatched',
      'gpc',
      'no_identifier',
    ])
  })

  for (const place of PLACES) {
    it(`has what the place "${place.name}" was told of the installs, in every period`, async () => {
      for (const [name, period] of Object.entries(PERIODS))
        expect(await told(place, period), name).to.deep.equal(tallyOf(book, place, period))
    })
  }

  for (const choices of CHOICES) {
    const filter = choices.map(choiceText)
    it(`has what places were told of the installs of ${filter.join(' and ')}`, async () => {
      const kept = chosen(book, choices)
      for (const place of PLACES)
        for (const [name, period] of Object.entries(PERIODS))
          expect(await told(place, period, choices), `${place.name}, ${name}`).to.deep.equal(
            tallyOf(kept, place, period),
          )
    })
  }

  it('has every delivery of every event, those of CI and tests too, by how it ended', async () => {
    const events = ledgerOf().world.machines.flatMap((machine) =>
      judgedEvents(machine, ledgerOf().world).map((each) => ({ machine, each })),
    )
    // By when they ended.
    const untilNow = { since: ALL.since, until: ledgerOf().now + HOUR }
    const { groups } = (await ledgerOf().read('deliveries', wordsOf(untilNow))) as { readonly groups: readonly Row[] }
    for (const place of PLACES) {
      const asked = { place, now: ledgerOf().now }
      const shown = groups.filter(({ destination }) => destination === place.name)
      const counts: Record<string, number> = {}
      for (const { status, reason, deliveries } of shown) {
        const ended = status === 'pending' || status === 'retrying' ? 'waiting' : String(status)
        const name = status === 'skipped' ? String(reason) : ended
        counts[name] = (counts[name] ?? 0) + Number(deliveries)
      }
      expect(counts, place.name).to.deep.equal(
        tally(events.map(({ machine, each }) => outcomeOf(machine, each, asked))),
      )
    }
  })

  it('has what the places themselves took, each event once', () => {
    const events = ledgerOf().world.machines.flatMap((machine) =>
      judgedEvents(machine, ledgerOf().world).map((each) => ({ machine, each })),
    )
    for (const place of PLACES) {
      const asked = { place, now: ledgerOf().now }
      const { delivered = 0 } = tally(events.map(({ machine, each }) => outcomeOf(machine, each, asked)))
      expect(adsOf().taken(place), place.name).to.equal(delivered)
    }
  })
}

type Tally = Readonly<Record<string, number>>

function tallyAt(book: Book, asked: AskedPlace, period: Period): Tally {
  const installs = entriesIn(book, period).filter(({ kind }) => kind === 'install')
  return tally(installs.map((install) => outcomeOfInstall(install, asked)))
}

interface AskedPart {
  readonly period: Period
  readonly choices: readonly Choice[]
}

/** As the book counts it. */
async function toldAt({ read }: Ledger, place: AdPlace, { period, choices }: AskedPart): Promise<Tally> {
  const words = { ...wordsOf(period), filter: choices.map(choiceText) }
  const { destinations } = (await read('deliveries/installs', words)) as { readonly destinations: readonly Row[] }
  const row = destinations.find(({ id }) => id === place.name) ?? {}
  const skipped = row['skipped'] as readonly { readonly reason: string; readonly installs: number }[]
  const all = [
    ...ENDS.map((end) => [end, Number(row[end])] as const),
    ...skipped.map(({ reason, installs }) => [reason, installs] as const),
    ['without a delivery', Number(row['none'])] as const,
  ]
  const counted = all.filter(([, count]) => count > 0)
  const sum = counted.reduce((total, [, count]) => total + count, 0)
  expect(sum, `${place.name}: all of them add up to Installs`).to.equal(row['installs'])
  return Object.fromEntries(counted)
}

/** Resolves when what a place was told in vain for too long has ended: each of them when it is due again. */
export async function untilExpired(ledger: Ledger): Promise<void> {
  const book = keepBook(ledger.world)
  for (const place of PLACES.filter(({ answers }) => answers === 'is busy')) {
    const mustBe = tallyAt(book, { place, now: ledger.now }, ALL)
    await until(
      async () => {
        const is = await toldAt(ledger, place, { period: ALL, choices: [] })
        return is['expired'] === mustBe['expired']
      },
      { what: `what ${place.name} was told in vain has ended`, everyMs: 500, withinMs: 60_000 },
    )
  }
}
