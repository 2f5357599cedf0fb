/**
 * The independent ledger: a world happens through the real doors of a service, and every number that people act on must be the one that a
 * book kept beside it has, by every dimension, on Sources, Match rate and Funnel. `ledger.long.ts` has the Overview, the command line and what programs read.
 */

import { readdir, readFile } from 'node:fs/promises'

import { expect } from 'chai'

import { keepBook, totalOf } from './world/book.ts'
import { sourcesSuite } from './suites/sources.suite.ts'
import { ALL, useLedger } from './service/stage.ts'

/** What must hold whatever the product does: its files import nothing but each other. */
const OWN_WORDS = new URL('world/', import.meta.url)

describe('the ledger', function () {
  this.timeout(300_000)
  const ledgerOf = useLedger()

  it('shares nothing with the product', async () => {
    const names = await readdir(OWN_WORDS)
    expect(names).to.include.members(['world.ts', 'book.ts', 'doors.ts'])
    for (const name of names) {
      const text = await readFile(new URL(name, OWN_WORDS), 'utf8')
      const from = [...text.matchAll(/ from '([^']+)'/g)].map(([, place = '']) => place)
      expect(
        from.filter((place) => !names.some((own) => place === `./${own}`) && !place.startsWith('node:')),
        name,
      ).to.deep.equal([])
    }
  })

  it('has something of everything, or it would prove nothing', () => {
    const { installs, visits } = totalOf(keepBook(ledgerOf().world), ALL)
    const { pending: _, ...counts } = { ...installs, ...visits }
    for (const [name, count] of Object.entries(counts)) expect(count, name).to.be.greaterThan(0)
  })

  sourcesSuite(ledgerOf)
})
