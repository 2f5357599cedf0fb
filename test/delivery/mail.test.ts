/** Mails on the log: retried until they are accepted, reported if given up, and never lost in a crash. */

import { expect } from 'chai'

import { createOutbox } from '../../dashboard/mail/outbox.ts'
import { startMailRole } from '../../delivery/mail/mail-role.ts'
import type { Letter, LetterOutcome } from '../../domain/people/letters.ts'
import { decodeRecord, type ActivityRecord, type MailJob } from '../../domain/records.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from '../contract/lmdb-harness.ts'
import { until } from '../../fixtures/until.ts'

const INVITATION = {
  kind: 'invitation',
  namespace: 'default',
  name: 'm-1',
  invitation: 'i',
  organization: 'acme',
} as const
const SIGN_IN = { kind: 'sign-in', link: 'ab'.repeat(16) } as const
const NEVER = new Promise<never>(() => undefined)

describe('mails', () => {
  let folder: string
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  let clock: ReturnType<typeof testClock>
  let answers: LetterOutcome[]
  let tried: { readonly mailId: string; readonly tries: number }[]
  let sent: Letter['kind'][]
  let role: { close(): Promise<void> } | null
  const randomness = createRandomness()

  const start = async (post?: (letter: Letter) => Promise<LetterOutcome>): Promise<void> => {
    role = await startMailRole({
      eventLog: log,
      randomness,
      nowMs: clock.nowMs,
      telemetry: { logger: createLogger({ program: 'test', level: 'silent' }) },
      post: async (letter, { mailId, tries }) => {
        tried.push({ mailId, tries })
        const outcome = await (post?.(letter) ?? Promise.resolve(answers.shift() ?? 'sent'))
        if (outcome === 'sent') sent.push(letter.kind)
        return outcome
      },
    })
  }
  const put = (letter: Letter) => createOutbox({ eventLog: log, randomness, nowMs: clock.nowMs }).put(letter)
  const isSettled = async (topic: 'mail' | 'mail.5s'): Promise<boolean> => {
    const { done, ends } = await log.progress(topic, 'mail')
    return ends[0] === done[0] && (ends[0] ?? 0) > 0
  }
  /** The tier looks at the clock again when something enters it. */
  const advance = async (ms: number): Promise<void> => {
    clock.set(clock.nowMs() + ms)
    await role?.close()
    await start()
  }
  const activity = async (): Promise<readonly ActivityRecord[]> =>
    (await log.read('activity', 0, 10)).map(({ value }) => decodeRecord<ActivityRecord>(value))

  beforeEach(async () => {
    folder = await temporaryFolder()
    clock = testClock()
    environment = await openTestEnvironment(folder, clock.nowMs)
    log = await lmdbEventLog(environment, { pace: { inHandMs: 50 } })
    answers = []
    tried = []
    sent = []
    role = null
  })
  afterEach(async () => {
    await role?.close()
    await log.close()
    await environment.close()
    await deleteFolder(folder)
  })

  it('are on the log before the request is answered, only by IDs', async () => {
    await put(SIGN_IN)
    const [entry] = await log.read('mail', 0, 10)
    const job = decodeRecord<MailJob>(entry?.value ?? '')
    expect(job).to.deep.include({ letter: SIGN_IN, tries: 0, createdAtMs: clock.nowMs() })
    expect([entry?.key, job.mailId.length]).to.deep.equal([job.mailId, 32])
  })

  it('wait and are tried again with the same ID until they are accepted', async () => {
    answers = ['later', 'later']
    await start()
    await put(SIGN_IN)
    await until(() => isSettled('mail'))
    expect(tried).to.have.length(1)
    await advance(7_000)
    await until(() => tried.length === 2)
    await advance(37_000)
    await until(() => tried.length === 3)
    expect(new Set(tried.map(({ mailId }) => mailId)).size).to.equal(1)
    expect(tried.map(({ tries }) => tries)).to.deep.equal([0, 1, 2])
    await advance(3_600_000)
    await until(() => isSettled('mail.5s'))
    expect(tried, 'once it is taken').to.have.length(3)
    expect(await activity()).to.deep.equal([])
  })

  it('are tried no more after their deadline, and people of the organisation see it', async () => {
    answers = ['later', 'later', 'later']
    await start()
    await put(INVITATION)
    await until(() => isSettled('mail'))
    await advance(24 * 3_600_000)
    await until(async () => (await activity()).length === 1)
    expect(tried).to.have.length(1)
    const [entry] = await activity()
    expect(entry).to.deep.include({ organization: 'acme', type: 'mail_not_delivered', subject: 'invitation' })
  })

  it('that the server refuses for good are not tried again, and people of the organisation see it', async () => {
    answers = ['refused']
    await start()
    await put(INVITATION)
    await until(async () => (await activity()).length === 1)
    await advance(3_600_000)
    expect(tried).to.have.length(1)
  })

  it('that were under way when the process ended are tried again by the next one', async () => {
    await start(() => NEVER)
    await put(SIGN_IN)
    await until(() => tried.length === 1)
    await role?.close()
    await start()
    await until(() => isSettled('mail'))
    expect(tried.map(({ tries }) => tries)).to.deep.equal([0, 0])
    expect(new Set(tried.map(({ mailId }) => mailId)).size).to.equal(1)
  })

  it('of one organisation that the server takes long for delay no others, however many they are', async () => {
    await start((letter) =>
      'organization' in letter && letter.organization === 'acme' ? NEVER : Promise.resolve('sent'),
    )
    await Promise.all(Array.from({ length: 80 }, () => put(INVITATION)))
    await until(() => tried.length >= 5)
    expect(tried).to.have.length(5)
    await put(SIGN_IN)
    await put({ ...INVITATION, organization: 'other' })
    await until(() => sent.length === 2)
    expect(sent).to.have.members(['sign-in', 'invitation'])
  })

  it('are sent in parallel', async () => {
    let calls = 0
    await start(() => (calls++ === 0 ? NEVER : Promise.resolve('sent')))
    await Promise.all([put(SIGN_IN), put(INVITATION)])
    await until(() => tried.length >= 2)
    expect(new Set(tried.map(({ mailId }) => mailId)).size).to.equal(2)
  })
})
