/** Every entry of the log is a record, or newer than this release, or unreadable; no entry ends a reader. */

import { expect } from 'chai'
import fc from 'fast-check'

import { newerVersionOf, readRecord, type ReadableKind } from '../../domain/read-record.ts'
import { encodeRecord } from '../../domain/records.ts'
import { memberOf } from '../../domain/strict-json.ts'
import {
  activationRecord,
  activityRecord,
  alertRecord,
  decisionRecord,
  deliveryRecord,
  installRecord,
  visitRecord,
} from '../contract/fact-samples.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

const INSTALL = installRecord()
const ACTIVATION = { ...activationRecord({ website: 'acme' }), isPredecessorUnknown: true }
const JOB = jobOf()

const WHOLE: { readonly [K in ReadableKind]: object } = {
  fact: visitRecord(),
  visit: visitRecord({ visitId: 'ab'.repeat(16) }),
  activation: ACTIVATION,
  install: INSTALL,
  decision: decisionRecord(INSTALL),
  delivery: deliveryRecord(),
  activity: activityRecord(),
  alert: alertRecord(),
  job: JOB,
  parkedInstall: { v: 1, record: INSTALL, firstSeenAtMs: 1, dueAtMs: 2 },
  waitingActivation: { v: 1, record: ACTIVATION, dueAtMs: 2 },
  deadLetter: { v: 1, job: JOB, reason: 'refused', failedAtMs: 3 },
  mailJob: {
    v: 1,
    mailId: 'ab'.repeat(16),
    letter: { kind: 'sign-in', link: 'cd'.repeat(16) },
    createdAtMs: 1,
    deadlineAtMs: 3,
    tries: 0,
    dueAtMs: 2,
  },
  webhookJob: {
    v: 1,
    messageId: 'ab'.repeat(14),
    organization: 'acme',
    website: '',
    webhook: 'default/events',
    type: 'test',
    body: '{}',
    happenedAtMs: 1,
    deadlineAtMs: 3,
    attempts: 0,
    dueAtMs: 2,
    logRetentionDays: 30,
  },
}
const KINDS = Object.keys(WHOLE) as ReadableKind[]
const textOf = (record: object): string => encodeRecord(record as Parameters<typeof encodeRecord>[0])
const lineOf = (record: object): string => JSON.stringify(record)

describe('reading a record', () => {
  for (const kind of KINDS) {
    it(`takes a whole ${kind}, with fields that a later release added`, () => {
      const record = { ...WHOLE[kind], laterField: { kept: true } }
      expect(readRecord(kind, textOf(record))).to.deep.equal({ kind: 'record', record })
    })

    it(`says of a ${kind} of a later version that it is newer, whatever it holds`, () => {
      expect(readRecord(kind, textOf({ ...WHOLE[kind], v: 2 }))).to.deep.equal({ kind: 'newer', version: 2 })
      expect(readRecord(kind, '{"v":3}')).to.deep.equal({ kind: 'newer', version: 3 })
    })

    it(`refuses a ${kind} that is cut anywhere`, () => {
      const [line = ''] = textOf(WHOLE[kind]).split('\n')
      for (let end = 0; end < line.length; end++) {
        expect(readRecord(kind, line.slice(0, end)).kind).to.equal('unreadable')
      }
    })

    it(`refuses what is not a ${kind}, and does not throw`, () => {
      const other = [
        '',
        '0',
        'null',
        '[]',
        '"text"',
        '{}',
        '{"v":1}',
        '{"v":"1"}',
        '{"v":0}',
        '{"v":1.5}',
        '{"v":null}',
      ]
      for (const text of other) expect(readRecord(kind, text).kind, text).to.equal('unreadable')
      fc.assert(
        fc.property(fc.jsonValue(), fc.string(), (value, body) => {
          // By chance it may say that a later release wrote it, which is not what is asked here.
          fc.pre(!(Number(memberOf(value, 'v')) > 0))
          const json = JSON.stringify(value)
          expect(readRecord(kind, json).kind).to.equal('unreadable')
          expect(readRecord(kind, `${json}\n${body}`).kind).to.equal('unreadable')
        }),
      )
    })

    it(`refuses a ${kind} in which a part is nothing or of another type`, () => {
      // What the reader leaves to others is checked there; none may get past the parts that it names.
      const named = namedParts(kind)
      expect(named.length).to.be.greaterThan(0)
      for (const path of named) {
        expect(readRecord(kind, lineOf(without(WHOLE[kind], path))).kind, path).to.equal('unreadable')
      }
    })
  }

  it('refuses a provider that this release cannot deliver to, and a malformed visit ID', () => {
    expect(readRecord('job', textOf({ ...JOB, provider: 'later' })).kind).to.equal('unreadable')
    expect(readRecord('activation', textOf({ ...ACTIVATION, visitId: 'xyz' })).kind).to.equal('unreadable')
    const deliveries = [{ provider: 'later', destination: 'x', status: 'pending' }]
    const install = { ...INSTALL, install: { ...INSTALL.install, deliveries } }
    expect(readRecord('install', textOf(install)).kind).to.equal('unreadable')
  })
})

describe('the version of an entry', () => {
  it('is found at the start of a record, and is null for what this release can read or no release can', () => {
    for (const kind of KINDS) {
      expect(newerVersionOf(textOf(WHOLE[kind]))).to.equal(null)
      expect(newerVersionOf(textOf({ ...WHOLE[kind], v: 2 }))).to.equal(2)
    }
    expect(newerVersionOf('{"v":1000,"x":1}')).to.equal(1_000)
    for (const text of ['', '{', '{"v":', '{"v":1}', '{"v":0}', '{"v":"2"}', 'null']) {
      expect(newerVersionOf(text), text).to.equal(null)
    }
  })

  it('is found in another order of the fields, and after blanks', () => {
    expect(newerVersionOf('{"kind":"visit","v":2}')).to.equal(2)
    expect(newerVersionOf('{ "v": 2 }\nbody')).to.equal(2)
  })
})

/** Paths whose absence the reader notices. */
function namedParts(kind: ReadableKind): readonly string[] {
  return leavesOf(WHOLE[kind]).filter((path) => {
    const reading = readRecord(kind, lineOf(without(WHOLE[kind], path)))
    return reading.kind === 'unreadable' && reading.why.startsWith(path)
  })
}

function leavesOf(value: object, under = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const isParent = typeof member === 'object' && member !== null && !Array.isArray(member)
    return [`${under}${name}`, ...(isParent ? leavesOf(member as object, `${under}${name}.`) : [])]
  })
}

/** The record with a value at the path that fits nothing. */
function without(record: object, path: string): object {
  const [name = '', ...rest] = path.split('.')
  const members = record as Record<string, unknown>
  if (rest.length === 0) return { ...members, [name]: true }
  return { ...members, [name]: without(members[name] as object, rest.join('.')) }
}
