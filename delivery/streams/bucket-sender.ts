/** Writes to one bucket with the S3 protocol. Every call goes through the guard for tenants' addresses. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { AwsV4Signer } from 'aws4fetch'

import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import { batchObject, testObject, type BucketObject } from '../../domain/streams/bucket-object.ts'
import { outcomeOf } from '../../domain/streams/pace.ts'
import type { SentBatch } from '../../domain/streams/progress.ts'
import { parseOutboundUrl } from '../../domain/outbound/address.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { ANSWER_CHARS, type BucketTarget, type Sent, type StreamSender } from './sender.ts'

interface BucketSenderParts {
  /** The stream's name in keys. */
  readonly stream: string
  readonly target: BucketTarget
  readonly outbound: OutboundParts
  readonly nowMs: () => number
}

/** No challenge: the credentials of a bucket prove that its owner wants the stream. */
export function bucketSender(parts: BucketSenderParts): StreamSender {
  const { stream, nowMs } = parts
  const placeIn = (prefix: string) => ({ stream, prefix })
  return {
    verify: null,
    pack: (plan, records) => {
      return packedObject(parts, batchObject(placeIn(plan.form.prefix ?? parts.target.prefix), plan, records), {
        id: plan.id,
        kind: 'batch',
        records: records.length,
      })
    },
    test: (id) =>
      packedObject(parts, testObject(placeIn(parts.target.prefix), id, nowMs()), { id, kind: 'test', records: 1 })(),
  }
}

/** The code of a refusal, as S3 names it. */
const REFUSAL = /<Code>([A-Za-z]{1,64})<\/Code>/

type SentObject = Pick<SentBatch, 'id' | 'kind' | 'records'>
type PackedObject = Omit<BucketObject, 'text'> & { readonly body: Buffer }

function packedObject(
  parts: BucketSenderParts,
  { text, ...object }: BucketObject,
  what: SentObject,
): () => Promise<Sent> {
  // Without `content-encoding`: clients would decompress it, but keep the name of a compressed file.
  const body = gzipSync(text)
  return () => putObject(parts, { ...object, body }, what)
}

async function putObject(
  { target, outbound, nowMs }: BucketSenderParts,
  object: PackedObject,
  what: SentObject,
): Promise<Sent> {
  const { body } = object
  const atMs = nowMs()
  const url = objectUrl(target, object.key)
  // A request to an address that the guard refuses may be impossible to sign.
  const headers = parseOutboundUrl(url, outbound.policy).ok ? await signedHeaders(target, { ...object, url }) : {}
  const secrets = [target.secretAccessKey, ...(target.sessionToken === null ? [] : [target.sessionToken])]
  const call = { url, method: 'PUT', headers, body, secrets } as const
  const { reply, log } = await callOutbound(call, { callMs: LIMITS.streamObjectMs, ...outbound })
  const outcome = outcomeOf(reply, nowMs(), REFUSAL.exec(log.responseBody)?.[1])
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = {
    ...what,
    atMs,
    bytes: body.length,
    tookMs: nowMs() - atMs,
    status: reply.status,
    error: outcome.error,
    answer,
  }
  return { outcome, shown }
}

/** Uses the machine's clock: S3 accepts a signature for 15 minutes. */
async function signedHeaders(
  target: BucketTarget,
  { url, metadata, body }: PackedObject & { readonly url: string },
): Promise<Readonly<Record<string, string>>> {
  const { region, accessKeyId, secretAccessKey, sessionToken, encryption } = target
  const described = Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value] as const)
  const signer = new AwsV4Signer({
    method: 'PUT',
    url,
    service: 's3',
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === null ? {} : { sessionToken }),
    headers: {
      ...Object.fromEntries(described),
      'content-type': 'application/gzip',
      'x-amz-content-sha256': sha256Hex(body),
      // A bucket with Object Lock takes no object without it, and every store knows it (RFC 1864); newer checksums not all do.
      'content-md5': createHash('md5').update(body).digest('base64'),
      ...encryptionHeaders(encryption),
    },
  })
  const { headers } = await signer.sign()
  const { host: _host, ...sent } = Object.fromEntries(new Headers(headers))
  return sent
}

function encryptionHeaders(encryption: BucketTarget['encryption']): Readonly<Record<string, string>> {
  if (encryption === null) return {}
  const { algorithm, kmsKeyId } = encryption
  const key = kmsKeyId === undefined ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': kmsKeyId }
  return { 'x-amz-server-side-encryption': algorithm, ...key }
}

function objectUrl({ endpoint, bucket, addressing }: BucketTarget, key: string): string {
  const path = key.split('/').map(encoded).join('/')
  if (addressing === 'Path') return `${endpoint}/${bucket}/${path}`
  return `${endpoint.replace('://', `://${bucket}.`)}/${path}`
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
