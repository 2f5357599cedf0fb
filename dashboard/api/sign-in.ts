/** Routes of signing in and out. */

import { Type } from 'typebox'

import { LIMITS } from '../../domain/limits.ts'
import { EMAIL_SCHEMA } from '../../domain/resources/member-schema.ts'
import type { RouteRow } from './route.ts'
import { FLAG, TEXT } from './shapes.ts'

/** What an address must be. */
export const NO_ADDRESS = 'must be an address such as anna@acme.dev'

const TOKEN = Type.String({ description: 'The token in the link.', minLength: 43, maxLength: 43 })
const OK = Type.Object({ ok: FLAG })

export const SIGN_IN_ROUTES = {
  waysIn: {
    method: 'GET',
    path: '/api/sign-in',
    needs: null,
    rate: 'read',
    summary: 'Which ways to sign in there are.',
    answers: { 200: Type.Object({ mail: FLAG, oidc: FLAG }) },
  },
  signInMail: {
    method: 'POST',
    path: '/api/sign-in/mail',
    needs: null,
    rate: 'sign-in',
    refuses: ['mail_not_configured'],
    summary: 'Send a sign-in link by mail; the answer is the same for every address.',
    body: Type.Object({
      email: Type.String({ ...EMAIL_SCHEMA, pattern: '^[\\x21-\\x7e]+$', patternMeaning: NO_ADDRESS }),
    }),
    answers: { 202: OK },
  },
  confirmMail: {
    method: 'POST',
    path: '/api/sign-in/mail/confirm',
    needs: null,
    rate: 'sign-in',
    refuses: ['sign_in_refused', 'code_required'],
    summary: 'Sign in with the link of a mail, and with its code if another browser asked for it.',
    body: Type.Object({
      token: TOKEN,
      code: Type.Optional(
        Type.String({
          description: 'The code of the mail.',
          pattern: '^[0-9]{8}$',
          patternMeaning: 'must be 8 digits',
        }),
      ),
    }),
    answers: { 200: OK },
  },
  startOidc: {
    method: 'POST',
    path: '/api/sign-in/oidc',
    needs: null,
    rate: 'sign-in',
    refuses: ['oidc_not_configured'],
    summary: 'Begin to sign in through the identity provider: gives the address to go to.',
    body: Type.Object({
      returnTo: Type.Optional(Type.String({ description: 'A path of ours.', maxLength: LIMITS.outboundUrlChars })),
    }),
    answers: { 200: Type.Object({ url: TEXT }) },
  },
  finishOidc: {
    method: 'GET',
    path: '/api/sign-in/oidc/callback',
    needs: null,
    rate: 'callback',
    summary: 'Where the identity provider sends the browser back to.',
    answers: { 303: null },
  },
  useLink: {
    method: 'POST',
    path: '/api/sign-in/link',
    needs: null,
    rate: 'sign-in',
    refuses: ['sign_in_refused'],
    summary: 'Sign in with a link from the operator of the service.',
    body: Type.Object({ token: TOKEN }),
    answers: { 200: OK },
  },
  signOut: {
    method: 'POST',
    path: '/api/sign-out',
    needs: 'Person',
    rate: 'write',
    isDenial: true,
    summary: 'End this session, or all sessions of the person.',
    body: Type.Object({ everywhere: Type.Optional(Type.Boolean({ description: 'All sessions.' })) }),
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
