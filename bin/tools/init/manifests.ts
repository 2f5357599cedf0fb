/** The custom resources of a new organisation and its website, as YAML. */

import type { Plan } from '../../../domain/model.ts'
import { RESOURCE_API_VERSION } from '../../../domain/resources/resources.ts'
import type { InitAnswers } from './questions.ts'

export interface NewNames {
  readonly organization: string
  /** Also the website's ID. */
  readonly website: string
}

/** Names of objects from what people and browsers call them. */
export function newNames({ organization, origin }: InitAnswers): NewNames {
  const { hostname, port } = new URL(origin)
  return {
    organization: nameFrom(organization, 'organization'),
    website: nameFrom(`${hostname} ${port}`, 'website'),
  }
}

/** At most 63 characters, as a label of a host's name has. */
const NAME_CHARS = 63

function nameFrom(text: string, otherwise: string): string {
  const name = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_CHARS)
    .replace(/^-+|-+$/g, '')
  return name === '' ? otherwise : name
}

/** Two documents. Every value is in the JSON form of a text, which is YAML, too. */
export function setUpManifests(answers: InitAnswers, names: NewNames, plan: Plan): string {
  const text = JSON.stringify
  const hook = answers.matching === 'TokensOnly' ? '  hook: { scan: Disabled }\n' : ''
  return `apiVersion: ${RESOURCE_API_VERSION}
kind: Organization
metadata: { name: ${text(names.organization)} }
spec:
  displayName: ${text(answers.organization)}
  plan: ${plan}
  timeZone: ${text(answers.timeZone)}
---
apiVersion: ${RESOURCE_API_VERSION}
kind: Website
metadata: { name: ${text(names.website)} }
spec:
  organizationRef: { name: ${text(names.organization)} }
  primaryOrigin: ${text(answers.origin)}
${hook}`
}
