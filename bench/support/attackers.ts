/**
 * Clients that hold connections open for nothing, each kind in its own way; a closed one reconnects at once. Runs until it is killed.
 *
 * Use: node bench/support/attackers.ts PORT KIND CONNECTIONS
 */

import { connect } from 'node:net'

const AGAIN_MS = 100
const DRIP_MS = 900
const UNREAD_ANSWERS = 60

interface Attack {
  readonly begin: string
  /** Sent at intervals. */
  readonly drip: string
  readonly reads: boolean
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow-head': { begin: 'GET /health HTTP/1.1\r\nHost: a\r\n', drip: 'X: y\r\n', reads: true },
  'slow-body': {
    begin:
      'POST /v1/visits HTTP/1.1\r\nHost: a\r\nOrigin: https://acme.dev\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n\r\n{',
    drip: ' ',
    reads: true,
  },
  'slow-reader': {
    begin: 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(UNREAD_ANSWERS),
    drip: '',
    reads: false,
  },
  'crlf-drip': { begin: 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n', drip: '\r\n', reads: true },
}

const [port = '', kind = '', connections = ''] = process.argv.slice(2)
const attack = ATTACKS[kind]
if (attack === undefined) throw new Error(`unknown attack ${kind}; known: ${Object.keys(ATTACKS).join(', ')}`)

function hold({ begin, drip, reads }: Attack): void {
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(begin))
  const timer = setInterval(() => drip !== '' && socket.writable && socket.write(drip), DRIP_MS)
  if (reads) socket.resume()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearInterval(timer)
    setTimeout(() => hold(attack as Attack), AGAIN_MS)
  })
}

for (let number = 0; number < Number(connections); number++) hold(attack)
console.log('ready')
