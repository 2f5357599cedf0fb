/** The organisation and the website of a world, as objects of the service, and how their owner and a program get in. */

import { apiKeyOf, specTime } from '../../dashboard/support/stage.ts'
import { ZONE } from '../world/calendar.ts'
import { DAY } from '../world/world.ts'

export const OWNER = 'owner@acme.dev'
export const KEY = apiKeyOf('reader', { organization: 'acme', expiresAt: specTime(Date.now() + 90 * DAY) })
export const MANIFESTS = `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Enterprise, timeZone: ${ZONE} }
---
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: owner }
spec: { organizationRef: { name: acme }, email: ${OWNER}, role: Owner }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: cli }
spec: { organizationRef: { name: acme } }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: brew }
spec: { organizationRef: { name: acme } }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: old }
spec: { organizationRef: { name: acme }, paused: true }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-dev }
spec:
  organizationRef: { name: acme }
  primaryOrigin: https://acme.dev
  additionalDomains: [https://docs.acme.dev]
  providers: [meta]
${KEY.text}`
