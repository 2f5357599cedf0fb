/** The OpenAPI document: up to date, valid, and about exactly the existing endpoints. All tests check real answers against it. */

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { openApiDocument } from '../../api/openapi/document.ts'
import { FIELD_WORDS } from '../../api/openapi/words.ts'
import { ERRORS } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { eventBody, visitBody } from './support/api.ts'
import { startLoneApi, type LoneApi } from './support/lone-api.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
const DOCUMENT = openApiDocument({ baseUrl: 'https://whence.example', version, brand: 'whence' }) as any

describe('the OpenAPI document', () => {
  let api: LoneApi
  before(async () => {
    api = await startLoneApi()
  })
  after(() => api.stop())

  it('in docs/openapi.json is the one that the program makes', () => {
    expect(JSON.parse(read('docs/openapi.json'))).to.deep.equal(JSON.parse(JSON.stringify(DOCUMENT)))
  })

  it('is what the service serves, apart from address and version', async () => {
    const { body } = await api.get('/openapi.json')
    expect(body['paths']).to.deep.equal(JSON.parse(JSON.stringify(DOCUMENT.paths)))
    expect(body['components']).to.deep.equal(JSON.parse(JSON.stringify(DOCUMENT.components)))
  })

  it('names every endpoint of the contract and no other', () => {
    expect(Object.keys(DOCUMENT.paths)).to.have.members([
      '/browser.js',
      '/browser.{digest}.js',
      '/browser/{file}',
      '/v1/projects/{website}/browser-config',
      '/v1/projects/{website}/origins',
      '/v1/visits',
      '/v1/visits/activate',
      '/v1/handoffs',
      '/v1/projects/{website}/paths/{path}/report.sh',
      '/v1/projects/{website}/report.sh',
      '/v1/events',
      '/report.sh',
      '/api/limits',
      '/skills/whence-setup/SKILL.md',
      '/skills/whence-setup/references/{file}',
      '/skills/whence-setup/manifest.json',
      '/skills/whence-setup/install.sh',
      '/openapi.json',
      '/health',
      '/v1/figures',
      '/v1/installs',
    ])
  })

  it('names paths that answer as it says', async () => {
    for (const [template, operations] of Object.entries<any>(DOCUMENT.paths)) {
      // The dashboard answers what needs a key; its own tests hold it to this document.
      if (operations.get?.security !== undefined) continue
      const path = template
        .replace('{website}', 'acme-dev')
        .replace('{path}', 'cli')
        .replace(/\{\w+\}/, 'nothing')
      const expected = template.includes('{file}') || template.includes('{digest}') ? 404 : 200
      if (operations.get !== undefined) expect((await api.get(path)).status, path).to.equal(expected)
      else expect((await api.post(path, '')).status, path).to.equal(400)
    }
  })

  it('has unique operation IDs, a parameter for each brace, and schemas that compile', () => {
    const ids: string[] = []
    const ajv = new Ajv2020({ strict: false })
    ajv.addSchema(DOCUMENT, 'openapi')
    for (const [template, operations] of Object.entries<any>(DOCUMENT.paths)) {
      for (const [method, operation] of Object.entries<any>(operations)) {
        ids.push(operation.operationId)
        const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const declared = (operation.parameters ?? []).flatMap((each: any) => (each.in === 'path' ? [each.name] : []))
        expect(declared, `${method} ${template}`).to.deep.equal(names)
      }
    }
    expect(new Set(ids).size).to.equal(ids.length)
    for (const name of Object.keys(DOCUMENT.components.schemas)) {
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` }), name).to.not.throw()
    }
  })

  it('describes each field, and no field that does not exist', () => {
    const used = new Set<unknown>()
    const without: string[] = []
    const walk = (value: any, place: string): void => {
      if (typeof value !== 'object' || value === null) return
      const fields = value.type === 'object' ? (value.properties ?? {}) : {}
      for (const [name, field] of Object.entries<any>(fields)) {
        if (field.description === undefined) without.push(`${place}/${name}`)
        used.add(field.description)
      }
      for (const [name, member] of Object.entries(value)) walk(member, `${place}/${name}`)
    }
    walk(DOCUMENT, '')
    expect(without).to.deep.equal([])
    const unused = Object.entries(FIELD_WORDS).filter(([, words]) => !used.has(words))
    expect(unused.map(([name]) => name)).to.deep.equal([])
  })

  it('takes null for every member that may be absent, at every level, and for no other', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const bodies: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
      ['/v1/visits', visitBody(), ['project', 'url_id', 'page_url']],
      ['/v1/handoffs', visitBody(), ['project', 'url_id', 'page_url']],
      ['/v1/events', eventBody({ receipts: [] }), ['project', 'event_id', 'installation_id', 'event_type']],
    ]
    for (const [path, body, required] of bodies) {
      const { schema } = DOCUMENT.paths[path].post.requestBody.content['application/json']
      const takes = ajv.compile(schema)
      const forms: readonly any[] = schema.anyOf ?? [schema]
      expect(takes(body), path).to.equal(true)
      for (const name of forms.flatMap(({ properties }) => Object.keys(properties)))
        expect(takes({ ...body, [name]: null }), `${path} ${name}`).to.equal(!required.includes(name))
    }
    const takes = ajv.compile(DOCUMENT.paths['/v1/visits'].post.requestBody.content['application/json'].schema)
    for (const more of [
      { source: { referrer: null, utm: { source: null }, landed_at: null } },
      { source: { utm: null }, client: { brands: null, timezone: null } },
      { identities: { ga4: { 'G-1': null }, meta: null, x: { twclid_at: null }, custom: { crm: { lead: null } } } },
    ])
      expect(takes(visitBody(more)), JSON.stringify(more)).to.equal(true)
    for (const more of [{ client: { formFactors: [null] } }, { client: { brands: [null] } }])
      expect(takes(visitBody(more)), JSON.stringify(more)).to.equal(false)
  })

  it('says the formats of addresses and moments', () => {
    const { properties } = DOCUMENT.paths['/v1/visits'].post.requestBody.content['application/json'].schema
    expect(properties.page_url.format).to.equal('uri')
    const { landed_at } = properties.source.anyOf[0].properties
    const formats = landed_at.anyOf.map(({ type, format }: any) => format ?? type)
    expect(formats).to.deep.equal(['integer', 'date-time', 'date', 'null'])
  })

  it('says which requests come from a page, and which may not', () => {
    const origins = Object.entries<any>(DOCUMENT.paths).flatMap(([path, { post }]) => {
      const origin = post?.parameters?.find(({ name }: { name: string }) => name === 'Origin')
      return post === undefined ? [] : [[path, origin?.required]]
    })
    expect(Object.fromEntries(origins)).to.deep.equal({
      '/v1/visits': true,
      '/v1/visits/activate': true,
      '/v1/handoffs': true,
      '/v1/events': undefined,
    })
  })

  it('documents the limits and codes of the tables', () => {
    const { properties } = DOCUMENT.paths['/v1/events'].post.requestBody.content['application/json'].schema
    expect(properties.receipts.maxItems).to.equal(LIMITS.receiptsPerInstall)
    expect(DOCUMENT.components.schemas.Error.properties.error.enum).to.deep.equal(Object.keys(ERRORS))
  })
})
