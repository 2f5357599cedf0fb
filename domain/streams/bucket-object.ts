/** Builds the objects that a log stream writes to a bucket: the same plan gives the same key and the same text. */

import type { StreamPlan } from './progress.ts'
import type { SentRecord } from './record.ts'
import { gapTexts, testText } from './webhook-body.ts'

/** Version of the lines, for readers of the bucket. */
const SCHEMA_VERSION = '1'

export interface BucketObject {
  /** With slashes between its parts. */
  readonly key: string
  /** Lines of JSON. */
  readonly text: string
  /** Plain ASCII, by name. */
  readonly metadata: Readonly<Record<string, string>>
}

interface ObjectPlace {
  readonly prefix: string
  /** Name of the LogStream. */
  readonly stream: string
}

/** The hour in which the batch was planned: late records are in later hours. */
export function batchObject(place: ObjectPlace, plan: StreamPlan, records: readonly SentRecord[]): BucketObject {
  const planned = new Date(plan.plannedAtMs).toISOString()
  const folder = `dt=${planned.slice(0, 10)}/hour=${planned.slice(11, 13)}`
  const times = records.map(({ atMs }) => atMs)
  const timeOf = (choose: (a: number, b: number) => number): string =>
    new Date(times.reduce((a, b) => choose(a, b))).toISOString()
  const span = times.length === 0 ? {} : { first: timeOf(Math.min), last: timeOf(Math.max) }
  return {
    key: bucketKey(place, `${folder}/${place.stream}-${plan.id}`),
    text: ndjsonOf([...gapTexts(plan), ...records.map(({ text }) => text)]),
    metadata: { records: String(records.length), ...span, schema: SCHEMA_VERSION },
  }
}

export function testObject(place: ObjectPlace, id: string, atMs: number): BucketObject {
  const metadata = { records: '1', schema: SCHEMA_VERSION }
  return { key: bucketKey(place, `whence-${id}`), text: ndjsonOf([testText(id, atMs)]), metadata }
}

function bucketKey({ prefix }: ObjectPlace, name: string): string {
  return `${prefix === '' ? '' : `${prefix}/`}${name}.ndjson.gz`
}

function ndjsonOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
