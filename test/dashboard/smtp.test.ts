/** Mails as a mail server gets them. */

import { expect } from 'chai'

import { MailRefused } from '../../dashboard/mail/mailer.ts'
import { smtpMailer } from '../../dashboard/mail/smtp.ts'
import { NO_ADDRESSES } from '../support/no-addresses.ts'
import { startPostOffice, type PostOffice } from './support/post-office.ts'

describe('the mailer', () => {
  let office: PostOffice
  beforeEach(async () => {
    office = await startPostOffice()
  })
  afterEach(() => office.stop())

  const SENDERS = {
    'w@acme.dev': 'From: w@acme.dev',
    'Whence <w@acme.dev>': 'From: Whence <w@acme.dev>',
    'Acme, Inc. <w@acme.dev>': 'From: "Acme, Inc." <w@acme.dev>',
  }
  for (const [from, line] of Object.entries(SENDERS))
    it(`has one sender if its setting is ${from}`, async () => {
      const mailer = smtpMailer({ url: office.url, from })
      await mailer.send({ id: '0123', to: 'anna@acme.dev', subject: 'Hello', text: 'Hello.' })
      mailer.close()
      const lines = office.mails[0]?.split('\r\n') ?? []
      expect(lines).to.include.members([line, 'To: anna@acme.dev', 'Message-ID: <0123@acme.dev>'])
    })

  it('offers the end of a regular mail to mail programs, by one click only over https', async () => {
    const mailer = smtpMailer({ url: office.url, from: 'w@acme.dev' })
    const letter = { id: '0123', to: 'anna@acme.dev', subject: 'Hello', text: 'Hello.' }
    for (const scheme of ['https', 'http']) {
      const regular = { html: '<p>Hello.', endUrl: `${scheme}://whence.acme.dev/end` }
      await mailer.send({ ...letter, regular })
    }
    await mailer.send(letter)
    mailer.close()
    const listLines = (mail: string): readonly string[] =>
      mail
        .replaceAll(/\r\n[ \t]+/g, ' ')
        .split('\r\n')
        .filter((line) => line.startsWith('List-'))
    expect(office.mails.map(listLines)).to.deep.equal([
      ['List-Unsubscribe: <https://whence.acme.dev/end>', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'],
      ['List-Unsubscribe: <http://whence.acme.dev/end>'],
      [],
    ])
    expect(office.mails.map((mail) => mail.includes('multipart/alternative'))).to.deep.equal([true, true, false])
  })

  it('mails to exactly the address that it is given, and to nothing that is none', async () => {
    const mailer = smtpMailer({ url: office.url, from: 'w@acme.dev' })
    const letter = { id: '0123', subject: 'Hello', text: 'Hello.' }
    for (const to of NO_ADDRESSES) {
      const error = await mailer.send({ ...letter, to }).catch((caught: unknown) => caught)
      expect(error, JSON.stringify(to)).to.be.instanceOf(MailRefused)
    }
    const odd = "!#$%&'*+/=?^_`{|}~-@acme.dev"
    await mailer.send({ ...letter, to: odd, replyTo: odd })
    mailer.close()
    expect(office.mails).to.have.length(1)
    expect(office.recipients).to.deep.equal([odd])
  })
})
