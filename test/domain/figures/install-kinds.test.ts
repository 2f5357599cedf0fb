/** Which events of an installation are its install, an upgrade or a reinstall. */

import { expect } from 'chai'

import { DAY_MS } from '../../../domain/durations.ts'
import {
  byReceipt,
  judgeInstallation,
  knownHistory,
  NO_HISTORY,
  type JudgedEvent,
} from '../../../domain/figures/install-kinds.ts'
import type { EventType } from '../../../domain/model.ts'

const START_MS = Date.UTC(2026, 10, 2)
const TYPES = { started: 'install_started', completed: 'install_completed', run: 'first_run' } as const

/** For example `completed@3 v1.2`: completed on day 3, and the version that it names. */
function eventsOf(...texts: readonly string[]): readonly JudgedEvent[] {
  return texts.map((text, at) => {
    const [, type = '', day = '', productVersion = ''] = /^(\w+)@([\d.]+) ?(.*)$/.exec(text) ?? []
    const eventType: EventType = TYPES[type as keyof typeof TYPES]
    return { eventId: `event-${at}`, eventType, receivedAtMs: START_MS + Number(day) * DAY_MS, productVersion }
  })
}

const kindsOf = (...texts: readonly string[]): readonly string[] =>
  judgeInstallation(eventsOf(...texts)).map(({ kind }) => kind)

describe('kinds of installs', () => {
  const cases: readonly (readonly [name: string, events: readonly string[], kinds: readonly string[]])[] = [
    ['the first completion', ['started@0', 'completed@0', 'run@1'], ['none', 'install', 'none']],
    ['the first run, and the completion that follows it', ['run@0', 'completed@6.9'], ['install', 'none']],
    ['a completion a week after the first run that began it', ['run@0', 'completed@7'], ['install', 'none']],
    ['a completion later than that', ['run@0', 'completed@7.01'], ['install', 'reinstall']],
    ['another completion', ['completed@0', 'completed@0.1', 'completed@90'], ['install', 'reinstall', 'reinstall']],
    ['another version', ['completed@0 1.2', 'completed@9 1.3'], ['install', 'upgrade']],
    ['the same version with a v', ['completed@0 v1.2', 'completed@9 1.2'], ['install', 'reinstall']],
    [
      'one change, told twice',
      ['completed@0 1', 'started@9 2', 'completed@9 2', 'run@9 2'],
      ['install', 'none', 'upgrade', 'none'],
    ],
    ['a change that a run tells', ['completed@0 1', 'run@9 2', 'run@10 1'], ['install', 'upgrade', 'upgrade']],
    ['a version after none', ['completed@0', 'run@9 2', 'run@10 3'], ['install', 'none', 'upgrade']],
    ['no version in between', ['completed@0 1', 'completed@1', 'completed@2 2'], ['install', 'reinstall', 'upgrade']],
    ['a completion of another version within the week', ['run@0 1', 'completed@1 2'], ['install', 'upgrade']],
    ['starts alone', ['started@0', 'started@1 2'], ['none', 'none']],
  ]
  for (const [name, events, kinds] of cases) {
    it(`judge ${name}`, () => expect(kindsOf(...events)).to.deep.equal(kinds))
  }

  it('stay the same when the events before have expired', () => {
    const events = eventsOf(
      'run@0 1',
      'completed@3',
      'completed@9',
      'started@10',
      'completed@10 2',
      'run@12 2',
      'completed@20',
    )
    const whole = judgeInstallation(events)
    expect(whole.map(({ kind }) => kind)).to.deep.equal([
      'install',
      'none',
      'reinstall',
      'none',
      'upgrade',
      'none',
      'reinstall',
    ])
    for (const [at, { before }] of whole.entries()) {
      expect(judgeInstallation(events.slice(at), before), `from ${at}`).to.deep.equal(whole.slice(at))
    }
  })

  it('know what was before the first event by a later one that was judged, unless that was judged by the first', () => {
    const before = { installedAtMs: 10, isBegunByRun: false, version: '1' }
    expect(knownHistory(20, undefined)).to.equal(NO_HISTORY)
    expect(knownHistory(20, { receivedAtMs: 20, before })).to.equal(before)
    expect(knownHistory(20, { receivedAtMs: 30, before })).to.equal(before)
    expect(knownHistory(10, { receivedAtMs: 30, before })).to.equal(NO_HISTORY)
    expect(knownHistory(5, { receivedAtMs: 30, before })).to.equal(NO_HISTORY)
    expect(knownHistory(5, { receivedAtMs: 30, before: NO_HISTORY })).to.equal(NO_HISTORY)
  })

  it('are put in order by receive time, then event ID', () => {
    const [first, second] = eventsOf('completed@0', 'completed@0')
    const [later] = eventsOf('completed@1')
    const sorted = [later, second, first].filter((event) => event !== undefined).toSorted(byReceipt)
    expect(sorted).to.deep.equal([first, second, later])
  })
})
