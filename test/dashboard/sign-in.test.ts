/** Signing in by mail and by link, sessions, and what other websites cannot do. */

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import { NO_ADDRESSES } from '../support/no-addresses.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const ANNA = 'anna@acme.dev'

describe('signing in', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage({ manifests: organizationOf('acme', { members: { [ANNA]: 'Owner' } }) })
  })
  after(() => stage?.stop())

  let addresses = 0
  const freshAddress = (): string => `203.0.113.${addresses++}`
  const askForMail = (email: string, more: object = {}): Promise<Told> =>
    stage.ask('POST', '/api/sign-in/mail', { body: { email }, address: freshAddress(), ...more })
  const lastMail = async (): Promise<{ readonly token: string; readonly code: string }> => {
    await stage.mailSent()
    const mail = stage.mails.at(-1) ?? ''
    return { token: /#mail=([\w-]{43})/.exec(mail)?.[1] ?? '', code: /code: (\d{8})/.exec(mail)?.[1] ?? '' }
  }
  const confirm = (body: object, cookies = ''): Promise<Told> =>
    stage.ask('POST', '/api/sign-in/mail/confirm', { body, cookies, address: freshAddress() })
  const me = (cookies: string): Promise<Told> => stage.ask('GET', '/api/me', { cookies })

  describe('by mail', () => {
    it('needs one click in the browser that asked, and works once', async () => {
      const asked = await askForMail(ANNA)
      const { token } = await lastMail()
      const signedIn = await confirm({ token }, asked.cookies)
      expect(signedIn.status).to.equal(200)
      const { body } = await me(signedIn.cookies)
      expect(body['email']).to.equal(ANNA)
      expect(body['organizations']).to.deep.equal([{ id: 'acme', displayName: 'acme Ltd', role: 'Owner' }])
      expect((await confirm({ token }, asked.cookies)).body).to.deep.equal({ error: 'sign_in_refused' })
    })

    it('takes nothing for an address that is none', async () => {
      const mails = stage.mails.length
      for (const email of NO_ADDRESSES) {
        const told = await askForMail(email, { address: `198.18.0.${addresses++}` })
        expect([told.status, told.body['error'], told.body['field']], JSON.stringify(email)).to.deep.equal([
          400,
          'invalid_field',
          '/email',
        ])
      }
      await stage.mailSent()
      expect(stage.mails.length).to.equal(mails)
    })

    it('lets in one of 20 simultaneous clicks', async () => {
      const asked = await askForMail(ANNA)
      const { token } = await lastMail()
      const clicks = await Promise.all(Array.from({ length: 20 }, () => confirm({ token }, asked.cookies)))
      expect(clicks.filter(({ status }) => status === 200)).to.have.length(1)
    })

    it('also needs the code in any other browser, such as that of a scanner that presses buttons', async () => {
      await askForMail(ANNA)
      const { token, code } = await lastMail()
      const scanner = await confirm({ token })
      expect(scanner.body).to.deep.equal({ error: 'code_required' })
      expect(scanner.cookies).to.equal('')
      const person = await confirm({ token, code })
      expect(person.status).to.equal(200)
      expect((await me(person.cookies)).status).to.equal(200)
    })

    it('is over after five wrong codes, even for the right one and for the browser that asked', async () => {
      const asked = await askForMail(ANNA)
      const { token, code } = await lastMail()
      const wrong = code === '00000000' ? '11111111' : '00000000'
      for (let tries = 0; tries < LIMITS.signInCodeTries; tries++)
        expect((await confirm({ token, code: wrong })).status).to.equal(403)
      expect((await confirm({ token, code })).status).to.equal(403)
      expect((await confirm({ token }, asked.cookies)).status).to.equal(403)
    })

    it('accepts neither the code without the link nor a link that was not sent', async () => {
      await askForMail(ANNA)
      const { code } = await lastMail()
      expect((await confirm({ code })).body['error']).to.equal('invalid_field')
      expect((await confirm({ token: 'A'.repeat(43), code })).body['error']).to.equal('sign_in_refused')
    })

    it('is over after 15 minutes; a newer link does not void an older one', async () => {
      const asked = await askForMail(ANNA)
      const { token: older } = await lastMail()
      await askForMail(ANNA)
      const { token: newer } = await lastMail()
      expect(newer).to.not.equal(older)
      expect((await confirm({ token: older }, asked.cookies)).status).to.equal(200)
      stage.advance(LIMITS.signInMs)
      expect((await confirm({ token: newer })).body['error']).to.equal('sign_in_refused')
    })

    it('answers the same for known and unknown addresses, and writes only to known ones', async () => {
      await stage.mailSent()
      const mails = stage.mails.length
      const known = await askForMail(ANNA)
      const unknown = await askForMail('nobody@acme.dev')
      await stage.mailSent()
      expect(stage.mails.length).to.equal(mails + 1)
      const shape = ({ status, text, headers, cookies }: Told) => ({
        status,
        text,
        cookie: cookies.replace(/=.*/, ''),
        headers: [...headers.keys()].sort(),
        length: headers.get('content-length'),
      })
      expect(shape(unknown)).to.deep.equal(shape(known))
    })

    it("counts requests by address and client together: nobody can use up another person's links", async () => {
      const address = freshAddress()
      const statuses = []
      for (let times = 0; times < 6; times++) statuses.push((await askForMail('bert@acme.dev', { address })).status)
      expect(statuses).to.deep.equal([202, 202, 202, 202, 202, 429])
      expect((await askForMail('bert@acme.dev')).status).to.equal(202)
    })

    it('has a place for a browser in which the person signed in before, whatever strangers ask for', async () => {
      stage.advance(3_600_000)
      const asked = await askForMail(ANNA)
      const { token } = await lastMail()
      const signedIn = await confirm({ token }, asked.cookies)
      const elsewhere = await askForMail(ANNA)
      const other = await lastMail()
      const withCode = await confirm(other)
      await askForMail('bert@acme.dev', { cookies: elsewhere.cookies })
      const strangers = Array.from({ length: 6 }, freshAddress)
      for (const address of strangers)
        for (let times = 0; times < 5; times += 1) expect((await askForMail(ANNA, { address })).status).to.equal(202)
      await stage.mailSent()
      const sentFor = async (more: object): Promise<number> => {
        const before = stage.mails.length
        expect((await askForMail(ANNA, more)).status).to.equal(202)
        await stage.mailSent()
        return stage.mails.length - before
      }
      expect(await sentFor({}), 'a browser of nobody').to.equal(0)
      expect(await sentFor({ cookies: elsewhere.cookies }), 'one that only asked').to.equal(0)
      expect(await sentFor({ cookies: asked.cookies }), 'the own browser').to.equal(1)
      expect(
        await sentFor({ cookies: asked.cookies, address: strangers[0] }),
        'behind the address of a stranger',
      ).to.equal(1)
      const [, known = ''] = withCode.cookies.split('; ')
      expect(await sentFor({ cookies: known }), 'where the code was typed').to.equal(1)
      expect(await sentFor({ cookies: signedIn.cookies }), 'while signed in').to.equal(1)
      for (let times = 0; times < 3; times += 1) await askForMail(ANNA, { cookies: asked.cookies })
      expect((await askForMail(ANNA, { cookies: asked.cookies })).status, 'bounded').to.equal(429)
    })

    it('changes nothing by GET or HEAD', async () => {
      await askForMail(ANNA)
      const { token, code } = await lastMail()
      for (const path of ['/api/sign-in/mail/confirm', `/api/sign-in/mail/confirm?token=${token}&code=${code}`])
        for (const method of ['GET', 'HEAD']) {
          const told = await stage.ask(method, path)
          expect([told.status, told.headers.get('allow'), told.cookies]).to.deep.equal([405, 'POST', ''])
        }
      expect((await confirm({ token, code })).status).to.equal(200)
    })
  })

  describe('sessions', () => {
    it('last 7 days from signing in, whatever happens in them', async () => {
      const cookies = await stage.signIn(ANNA)
      stage.advance(LIMITS.dashboardSessionMs - 60_000)
      expect((await me(cookies)).status).to.equal(200)
      stage.advance(60_000)
      expect((await me(cookies)).body).to.deep.equal({ error: 'unauthenticated' })
    })

    it('end by signing out, one or all of a person', async () => {
      const one = await stage.signIn(ANNA)
      const two = await stage.signIn(ANNA)
      const three = await stage.signIn(ANNA)
      const other = await stage.signIn('bert@acme.dev')
      const out = await stage.ask('POST', '/api/sign-out', { cookies: one, body: {} })
      expect([out.status, out.headers.get('set-cookie')]).to.deep.equal([
        204,
        'session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      ])
      expect([(await me(one)).status, (await me(two)).status]).to.deep.equal([401, 200])
      await stage.ask('POST', '/api/sign-out', { cookies: two, body: { everywhere: true } })
      expect([(await me(two)).status, (await me(three)).status, (await me(other)).status]).to.deep.equal([
        401, 401, 200,
      ])
    })

    it('get a new cookie at each sign-in, whatever the browser held before', async () => {
      const planted = `session=${'A'.repeat(43)}`
      const asked = await askForMail(ANNA, { cookies: planted })
      const { token } = await lastMail()
      const told = await confirm({ token }, `${planted}; ${asked.cookies}`)
      expect(told.cookies)
        .to.match(/^session=[\w-]{43}$/)
        .and.not.equal(planted)
      expect((await me(planted)).status).to.equal(401)
      const before = told.cookies
      const again = await askForMail(ANNA)
      const { token: next } = await lastMail()
      await confirm({ token: next }, `${before}; ${again.cookies}`)
      expect((await me(before)).status, 'the session before').to.equal(401)
    })

    it('are read only from one cookie of the right form', async () => {
      const cookies = await stage.signIn(ANNA)
      expect((await me(`${cookies}; session=${'B'.repeat(43)}`)).status).to.equal(401)
      for (const value of ['', 'x', `${cookies.slice(8)}=`, '../'.repeat(14)])
        expect((await me(`session=${value}`)).status).to.equal(401)
    })

    it('keep neither cookie nor link in the hot state or the log of the process', async () => {
      const cookies = await stage.signIn(ANNA)
      await askForMail(ANNA)
      const { token } = await lastMail()
      const log = stage.logLines.join('\n')
      for (const secret of [cookies.slice('session='.length), token, ANNA]) expect(log).to.not.include(secret)
      expect(await stage.hotState.readOnce(`mail-link/${token}`)).to.equal(null)
      expect(await stage.hotState.readSession(cookies.slice('session='.length))).to.equal(null)
    })
  })

  describe('other websites', () => {
    const REFUSED: readonly (readonly [string, Record<string, string>])[] = [
      ['POST', { 'Sec-Fetch-Site': 'cross-site' }],
      ['POST', { 'Sec-Fetch-Site': 'same-site' }],
      ['POST', { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' }],
      ['POST', { Origin: 'https://evil.example' }],
      ['POST', { Origin: 'null' }],
      ['GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }],
      ['GET', { 'Sec-Fetch-Site': 'same-site' }],
      ['GET', { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'cors' }],
      ['GET', { Origin: 'https://evil.example' }],
    ]
    for (const [method, headers] of REFUSED) {
      it(`cannot send ${method} with ${JSON.stringify(headers)}`, async () => {
        const cookies = await stage.signIn(ANNA)
        const [path, body] = method === 'GET' ? ['/api/me', undefined] : ['/api/sign-out', {}]
        const told = await stage.ask(method, path, { cookies, body, headers })
        expect([told.status, told.body]).to.deep.equal([403, { error: 'cross_origin' }])
        expect((await me(cookies)).status).to.equal(200)
      })
    }

    it('cannot post a form', async () => {
      const told = await stage.ask('POST', '/api/sign-out', {
        body: 'everywhere=true',
        cookies: await stage.signIn(ANNA),
        headers: { 'Content-Type': 'text/plain' },
      })
      expect(told.body).to.deep.equal({ error: 'unsupported_media_type' })
    })
  })

  it('is limited by client address', async () => {
    const address = freshAddress()
    const statuses = new Set<number>()
    for (let tries = 0; tries < 11; tries++) {
      const told = await stage.ask('POST', '/api/sign-in/link', { body: { token: 'A'.repeat(43) }, address })
      statuses.add(told.status)
      if (told.status === 429)
        expect(Number(told.headers.get('retry-after')))
          .to.equal(told.body['retryAfter'])
          .and.be.within(1, 60)
    }
    expect([...statuses]).to.deep.equal([403, 429])
  })

  it('accepts bodies of at most 64 KB', async () => {
    const told = await stage.ask('POST', '/api/sign-in/link', {
      body: `"${'x'.repeat(65_536)}"`,
      address: freshAddress(),
    })
    expect([told.status, told.body]).to.deep.equal([413, { error: 'body_too_large' }])
  })
})
