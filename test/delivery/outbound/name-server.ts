/** A name server on a loopback port that answers as a test says: addresses of both families, aliases, errors, silence. */

import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

export interface NameAnswer {
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
  /** Another name that the addresses are said to be of. */
  readonly alias?: string
  /** 2 for a failure of the server, 3 for no such name. */
  readonly code?: number
  readonly isSilent?: boolean
}

export interface NameServer {
  /** As `dns.Resolver#setServers` takes it. */
  readonly address: string
  /** The questions, in order: `A hooks.acme.dev`. */
  readonly asked: string[]
  /** `round` counts the questions of this type for this name from 0. */
  answer: (name: string, round: number) => NameAnswer
  stop(): Promise<void>
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }
const ALIAS_TYPE = 5
const HEADER_BYTES = 12
/** Of a question behind its name: type and class. */
const QUESTION_BYTES = 4
/** Points to the question's name, which begins behind the header. */
const SAME_NAME = Buffer.from([0xc0, HEADER_BYTES])

export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server: NameServer = {
    address: '',
    asked: [],
    answer: () => ({ code: 3 }),
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  }
  socket.on('message', (query, from) => {
    const { name, end } = nameIn(query)
    const type = TYPES[query.readUInt16BE(end)]
    if (type === undefined) return
    const question = `${type} ${name}`
    const answer = server.answer(name, server.asked.filter((each) => each === question).length)
    server.asked.push(question)
    if (answer.isSilent === true) return
    socket.send(reply(query.subarray(0, end + QUESTION_BYTES), type, answer), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return Object.assign(server, { address: `127.0.0.1:${socket.address().port}` })
}

/** The name of the first question, and where it ends. */
function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** The query up to the end of its question, turned into an answer. */
function reply(asked: Buffer, type: 'A' | 'AAAA', { alias, code = 0, ...addresses }: NameAnswer): Buffer {
  const found = addresses[type] ?? []
  const owner = alias === undefined ? SAME_NAME : nameBytes(alias)
  const records = [
    ...(alias === undefined ? [] : [record(SAME_NAME, ALIAS_TYPE, nameBytes(alias))]),
    ...found.map((address) => record(owner, type === 'A' ? 1 : 28, addressBytes(address))),
  ]
  const head = Buffer.from(asked)
  // An answer, of a server that looks further itself, with this code.
  head.writeUInt16BE(0x8180 | code, 2)
  for (const [offset, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * offset)
  return Buffer.concat([head, ...records])
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, head, data])
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)))
  const front = groups(head)
  const back = groups(tail ?? '')
  const all = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
