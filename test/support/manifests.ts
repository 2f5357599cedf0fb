/** Builders of custom resources as plain objects: each gives a valid one, which a test changes as it needs. */

import { createHash } from 'node:crypto'

import type { Compilation } from '../../domain/catalog/compile-catalog.ts'
import { compileCatalog } from '../../domain/catalog/compile-catalog.ts'

export type Manifest = Record<string, unknown>
type Fields = Readonly<Record<string, unknown>>

const API_VERSION = 'whence.dev/v1alpha1'

export function resource(kind: string, name: string, spec: Fields, metadata: Fields = {}): Manifest {
  return { apiVersion: API_VERSION, kind, metadata: { name, ...metadata }, spec }
}

export function organization(name: string, spec: Fields = {}, metadata: Fields = {}): Manifest {
  return resource('Organization', name, { plan: 'Enterprise', ...spec }, metadata)
}

export function website(name: string, spec: Fields = {}, metadata: Fields = {}): Manifest {
  const fields = { organizationRef: { name: 'acme' }, primaryOrigin: `https://${name}.example`, ...spec }
  return resource('Website', name, fields, metadata)
}

export function installPath(name: string, spec: Fields = {}, metadata: Fields = {}): Manifest {
  return resource('InstallPath', name, { organizationRef: { name: 'acme' }, ...spec }, metadata)
}

export function ga4Destination(name: string, spec: Fields = {}, metadata: Fields = {}): Manifest {
  const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' } }
  return resource('Destination', name, { websiteRef: { name: 'site' }, provider: 'ga4', ga4, ...spec }, metadata)
}

export function logStream(name: string, spec: Fields = {}): Manifest {
  const webhook = { url: 'https://logs.example/in', secretRef: { name: 'keys', key: 'hook' } }
  return resource('LogStream', name, { organizationRef: { name: 'acme' }, webhook, ...spec })
}

export function secret(name: string, stringData: Fields, metadata: Fields = {}): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...metadata }, stringData }
}

/** Compiles objects in the order given, the oldest first; each field's place is its pointer. */
export function compile(...objects: readonly unknown[]): Compilation {
  return compileCatalog({
    objects: objects.map((value, index) => ({ value, locate: (field) => `object ${index}${field}` })),
    sha256Hex: (text) => createHash('sha256').update(text).digest('hex'),
  })
}

/** The problems in short: object, reason and message. */
export function findings({ problems }: Pick<Compilation, 'problems'>): readonly string[] {
  return problems.map(({ object, reason, message }) => `${object} ${reason} ${message}`)
}
