/** What the facts-writer keeps for log streams: the real engine, batches as the log hands them over. */

import { expect } from 'chai'

import { createErasures, erasedName } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { createStreamBacklog, type StreamBacklog } from '../../delivery/facts-writer/stream-rows.ts'
import { readBatch } from '../../delivery/streams/batch-records.ts'
import { encodeRecord, type LogRecord, type RecordTopic } from '../../domain/records.ts'
import { readLane } from '../../domain/streams/lane.ts'
import type { StreamPlan } from '../../domain/streams/progress.ts'
import type { BacklogRow } from '../../ports/facts/streams.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { attempt, deliveryRecord, requestRecord, SAMPLE_MS, unique, visitRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

describe('the backlog of log streams', () => {
  let facts: TestFacts
  let organization: string
  let nowMs: number
  /** Offsets after the newest entry of each partition. */
  let ends: number[]

  before(async () => {
    facts = await openTestFacts()
  })
  after(async () => {
    await facts.close()
  })
  beforeEach(async () => {
    organization = unique('organization')
    nowMs = Date.now()
    ends = [1_000]
    await facts.insert('stream_progress', [
      {
        organization,
        stream: 'default/logs',
        seen_at: nowMs,
        state: '',
        behind: 0,
        oldest_at: null,
        delivered_at: null,
        failing_since: null,
        last_error: '',
        delivered: 0,
        dropped: 0,
        progress: '{}',
        row_version: 1,
      },
    ])
  })

  /** A process of the facts-writer. */
  const process = (): StreamBacklog => {
    const eventLog = { progress: async () => ({ done: [0], ends }) }
    return createStreamBacklog({ facts, eventLog, logger: SILENT_LOGGER, nowMs: () => nowMs })
  }
  const write = async (
    backlog: StreamBacklog,
    records: readonly LogRecord[],
    place: { readonly from: number; readonly topic?: RecordTopic; readonly appendedAtMs?: number },
  ): Promise<void> => {
    const { from, topic = 'visits', appendedAtMs = nowMs } = place
    const entries = records.map((record, index) => ({
      key: 'k',
      value: encodeRecord(record),
      offset: from + index,
      appendedAtMs,
    }))
    const tools = { nowMs: Date.now, marks: createHourMarks('w', Date.now), erasures: createErasures(facts), backlog }
    await writeBatch(facts, { topic, partition: 0, entries }, tools)
  }
  const lanes = () => facts.run('openLanes', { organization, lanes: 0 })
  const rows = async (): Promise<readonly BacklogRow[]> => {
    const found = await lanes()
    const borders = found.map(({ lane, last }, index) => ({
      [`lane_${index}`]: lane,
      [`after_${index}`]: -1,
      [`through_${index}`]: last,
    }))
    const params = { organization, per_lane: 100, lanes: found.length, ...(Object.assign({}, ...borders) as object) }
    return facts.run('backlogBetween', params)
  }
  const planOfAll = async (): Promise<StreamPlan> => {
    const borders = (await lanes()).map(({ lane, last }) => ({ lane, after: -1, through: last }))
    const form = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
    return { id: 'plan', borders, gaps: [], records: 3, bytes: 0, form, plannedAtMs: nowMs, oldestMs: nowMs }
  }
  const mine = (changes = {}) => requestRecord({ organization, website: 'acme', ...changes })

  it('holds each request and attempt of an organisation with a stream, as Logs show them, and no other', async () => {
    const asked = mine({ status: 404, code: 'not_found', body: '{"a":1}', receivedAtMs: SAMPLE_MS })
    const sent = deliveryRecord({ organization, attempt: attempt({ responseBody: 'no' }) })
    await write(process(), [asked, requestRecord(), visitRecord({ organization })], { from: 4 })
    await write(process(), [sent, deliveryRecord({ organization })], { from: 0, topic: 'deliveries' })
    const found = await rows()
    expect(found.map(({ log_offset: offset, kind }) => [offset, kind])).to.deep.equal([
      [0, 'delivery'],
      [4, 'request'],
      [6, 'visit'],
    ])
    const { records, missing } = await readBatch(facts, organization, await planOfAll())
    expect(missing).to.equal(0)
    const lines = records.map(({ text }) => JSON.parse(text) as object)
    expect(lines[0]).to.include({ direction: 'outbound', responseBody: 'no', id: sent.attempt?.attemptId })
    expect(lines[1]).to.include({ status: 404, code: 'not_found', body: '{"a":1}', at: SAMPLE_MS })
    for (const [index, { bytes }] of found.entries())
      expect(bytes).to.be.greaterThanOrEqual(Buffer.byteLength(records[index]?.text ?? ''))
  })

  it('has in place of a record that was erased from Logs that it cannot be read, and counts it', async () => {
    const kept = mine()
    const gone = mine({ body: `{"event_id":"${unique('event')}"}` })
    await write(process(), [kept, gone], { from: 0 })
    const { event_id: eventId } = JSON.parse(gone.request.body) as { event_id: string }
    await facts.erase([erasedName({ organization, website: 'acme' }, eventId)])
    const { records, missing } = await readBatch(facts, organization, await planOfAll())
    const unreadable = { type: 'unreadable', id: gone.request.id, at: gone.request.receivedAtMs }
    expect(JSON.parse(records[0]?.text ?? '')).to.include({ id: kept.request.id })
    expect(JSON.parse(records[1]?.text ?? '')).to.deep.equal(unreadable)
    expect([records.length, missing]).to.deep.equal([2, 1])
  })

  it('holds it once when the batch comes again, also to another process', async () => {
    const records = [mine(), mine()]
    const one = process()
    await write(one, records, { from: 0 })
    await write(one, records, { from: 0 })
    await write(process(), records, { from: 0 })
    expect((await lanes()).map(({ records: count }) => count)).to.deep.equal([2])
  })

  it('continues in a new lane if the topic was recreated, and says so in its name', async () => {
    await write(process(), [mine(), mine()], { from: 100 })
    ends = [2]
    nowMs += 1_000
    await write(process(), [mine(), mine()], { from: 0 })
    const causes = (await lanes()).map(({ lane, records }) => [readLane(lane)?.cause, records])
    expect(causes).to.have.deep.members([
      ['first', 2],
      ['renewed', 2],
    ])
  })

  it('continues in a new lane if a recreated topic has grown past the known position', async () => {
    await write(process(), [mine()], { from: 100, appendedAtMs: nowMs - 3_600_000 })
    await write(process(), [mine()], { from: 50 })
    expect(await lanes()).to.have.lengthOf(2)
  })

  it('contains the good entries of a batch, and never an unreadable one', async () => {
    const backlog = process()
    const entries = [encodeRecord(mine()), 'no record', encodeRecord(mine())].map((value, offset) => ({
      key: 'k',
      value,
      offset,
      appendedAtMs: nowMs,
    }))
    const tools = { nowMs: Date.now, marks: createHourMarks('w', Date.now), erasures: createErasures(facts), backlog }
    await writeBatch(facts, { topic: 'requests', partition: 0, entries }, tools)
    expect((await rows()).map(({ log_offset: offset }) => offset)).to.deep.equal([0, 2])
  })
})
