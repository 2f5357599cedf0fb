/** Mails as a mail server gets them. */

import { expect } from 'chai'

import { smtpMailer } from '../../dashboard/mail/smtp.ts'
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
})
