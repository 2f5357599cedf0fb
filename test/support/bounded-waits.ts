/** Waits of `fixtures/until.ts` end before the test that they are in, and say what they waited for. */

import { boundWaits } from '../../fixtures/until.ts'

export const mochaHooks = {
  beforeEach(this: Mocha.Context) {
    const test = this.currentTest
    boundWaits(test === undefined ? null : () => test.timeout())
  },
  afterEach() {
    boundWaits(null)
  },
}
