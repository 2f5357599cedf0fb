/** Makes jobs as dispatch does, from the builders' visit, install and destination. */

import { createHash } from 'node:crypto'

import type { Destination } from '../../../domain/catalog.ts'
import { jobFor } from '../../../domain/delivery/deliveries.ts'
import type { Visit } from '../../../domain/collection/visit-fields.ts'
import type { Install } from '../../../domain/model.ts'
import type { Job } from '../../../domain/records.ts'
import { destinationOf, installOf, visitOf } from './builders.ts'

export interface JobOverrides {
  readonly visit?: Visit
  readonly destination?: Destination
  readonly install?: Partial<Install>
}

export function jobOf({ visit = visitOf(), destination = destinationOf(), install = {} }: JobOverrides = {}): Job {
  const made = installOf({ visit, destinations: [destination], overrides: install })
  const plan = made.deliveries[0]
  if (plan?.status !== 'pending') throw new Error('the builders plan nothing to send')
  const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
  return jobFor({ install: made, visit, plan, retentionDays: 395, logRetentionDays: 30 }, sha256Hex)
}
