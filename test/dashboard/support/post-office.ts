/** Takes mails as a mail server does. */

import { SMTPServer } from 'smtp-server'

import { freePort } from '../../../fixtures/engines/free-port.ts'

/** A real SMTP server that keeps what it is sent. */
export interface PostOffice {
  readonly url: string
  /** Decoded, with their headers. */
  readonly mails: readonly string[]
  /** Of their envelopes. */
  readonly recipients: readonly string[]
  readonly stop: () => Promise<void>
}

export async function startPostOffice(): Promise<PostOffice> {
  const mails: string[] = []
  const recipients: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      recipients.push(...session.envelope.rcptTo.map(({ address }) => address))
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push(decodeQuotedPrintable(Buffer.concat(chunks).toString('utf8')))
        done()
      })
    },
  })
  // A sender that is killed while it sends.
  server.on('error', () => undefined)
  const port = await freePort()
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const stop = () => new Promise<void>((done) => server.close(() => done()))
  return { url: `smtp://127.0.0.1:${port}`, mails, recipients, stop }
}

function decodeQuotedPrintable(text: string): string {
  return text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}
