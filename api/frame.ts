/** Serves a handler that is not the api's own with the api's server: the same bounds, time limits and way to stop. */

import type { IncomingMessage, ServerResponse } from 'node:http'

import express from 'express'

import { refuse } from '../domain/errors.ts'
import { takeOriginForm } from './http/absolute-form.ts'
import { sendRefusal } from './http/reply.ts'
import { listen, type ApiServer, type ServerParts } from './server.ts'

type Beside = (req: IncomingMessage, res: ServerResponse) => boolean

/** `baseUrl`: the service's own address, which targets in absolute form may name. */
export function listenFor(
  beside: Beside,
  address: { readonly host: string; readonly port: number },
  baseUrl: string,
  server: ServerParts,
): Promise<ApiServer> {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.set('query parser', false)
  app.use((req, res) => {
    takeOriginForm(req, baseUrl)
    if (!beside(req, res)) sendRefusal(res, refuse('not_found'))
  })
  return listen(app, address, server)
}
