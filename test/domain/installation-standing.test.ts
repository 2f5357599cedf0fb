/** Which event of an installation is told to destinations that get installs alone. */

import { expect } from 'chai'

import { DAY_MS } from '../../domain/durations.ts'
import { judgeStanding, type EventOfInstallation } from '../../domain/figures/installation-standing.ts'
import type { EventType } from '../../domain/model.ts'

const event = (day: number, visitId = 'visit', more: Partial<EventOfInstallation> = {}): EventOfInstallation => ({
  eventId: `event-${day}`,
  eventType: 'install_completed',
  receivedAtMs: day * DAY_MS,
  productVersion: '',
  visitId,
  ...more,
})
const told = (own: EventOfInstallation, ...others: readonly EventOfInstallation[]) => {
  const { kind, isToldAsInstall } = judgeStanding(own, others)
  return [kind, isToldAsInstall]
}

describe('an event among those of its installation', () => {
  it('is told as the install if it is that, whatever came later', () => {
    expect(told(event(1))).to.deep.equal(['install', true])
    expect(told(event(1), event(2), event(3))).to.deep.equal(['install', true])
    expect(told(event(1, 'visit', { eventType: 'first_run' }), event(2))).to.deep.equal(['install', true])
  })

  it('is not told if it is an upgrade, a reinstall or a start', () => {
    expect(told(event(2), event(1))).to.deep.equal(['reinstall', false])
    const upgrade = event(2, 'visit', { productVersion: 'v2' })
    expect(told(upgrade, event(1, 'visit', { productVersion: '1' }))).to.deep.equal(['upgrade', false])
    const of = (eventType: EventType) => event(2, 'visit', { eventType })
    expect(told(of('first_run'), event(1))).to.deep.equal(['none', false])
    expect(told(of('install_started'))).to.deep.equal(['none', false])
  })

  it('is told in place of an install without a visit, within seven days', () => {
    const install = event(1, '')
    expect(told(event(8), install)).to.deep.equal(['reinstall', true])
    expect(told(event(8), install, event(7))).to.deep.equal(['reinstall', false])
    expect(told(event(8), install, event(7, ''))).to.deep.equal(['reinstall', true])
    expect(told(event(9), install)).to.deep.equal(['reinstall', false])
  })

  it('is judged by what was known before, if earlier events are not kept', () => {
    const before = { installedAtMs: 0, isBegunByRun: false, version: '' }
    expect(judgeStanding(event(400), [], { receivedAtMs: 500, before })).to.deep.equal({
      kind: 'reinstall',
      isToldAsInstall: false,
    })
  })

  it('counts once, though it is among the others', () => {
    expect(told(event(2), event(2), event(1))).to.deep.equal(['reinstall', false])
  })
})
