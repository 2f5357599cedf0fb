/** The week of the documentation, lived through by a running service. */

import { readFile } from 'node:fs/promises'

import { expect } from 'chai'

import { START_MS, useLedger } from './service/stage.ts'
import { checkPanels, weekFrom } from './week.ts'
import { PAGE, weekPageOf } from './write-week.ts'

describe('the week of the documentation', function () {
  this.timeout(120_000)
  const week = weekFrom(START_MS)
  const ledgerOf = useLedger(() => ({ world: week.world }))

  it('has the numbers that a service shows of it, and the page is up to date (`npm run -s docs-week`)', async () => {
    const { page, overview } = await weekPageOf(ledgerOf(), week)
    checkPanels(week, overview)
    expect(await readFile(PAGE, 'utf8')).to.equal(page)
  })
})
