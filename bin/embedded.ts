/** `whencectl embedded`: the whole service in one process, optionally with an example website. */

import { resolve } from 'node:path'

import type { RunOutcome } from '../runtime/settings/settings.ts'
import { EXAMPLE_DEFAULTS } from './example-data/defaults.ts'
import { startExampleSite } from './example-site.ts'
import { yieldV8Threads } from './wiring/v8-threads.ts'
import { runProgram } from './wiring/process.ts'
import { startService, type Service } from './service.ts'
import { startStandIns } from './stand-ins.ts'
import { print } from './terminal/output.ts'

export function embedded({ settings }: RunOutcome<'embedded'>, env: NodeJS.ProcessEnv): Promise<number> {
  yieldV8Threads()
  return runProgram('embedded', settings, async (own) => {
    const { exampleSite, listen, baseUrl } = settings
    // People who try the example have no provider accounts: unless addresses are set, stand-ins take the deliveries.
    const inUse = exampleSite === null ? settings : { ...settings, ...(await startStandIns(settings, own.lifecycle)) }
    const service = await startService(own, inUse, env)
    own.logger.info({ listen: `${listen.host}:${service.port}`, baseUrl }, 'collecting')
    if (exampleSite === null) return
    const ga4Url = settings.ga4Url === null ? inUse.ga4Url : null
    const site = await own.lifecycle.start(
      'example site',
      () => startExampleSite({ listen: exampleSite, catalog: service.catalog.current, baseUrl, ga4Url }),
      (server) => server.close(),
    )
    print(site.steps)
    print(await signInSteps(service))
    print(exampleDataStep(service, settings.data))
  })
}

/** For the example, in which there is no other way to sign in: a link that makes its user Owner of the organisation. */
const TRIAL_PERSON = 'you@whence.example'

async function signInSteps({ catalog, signInLink }: Service): Promise<string> {
  const [ownerOf = null] = catalog.current().organizations.keys()
  const link = await signInLink({ email: TRIAL_PERSON, ownerOf }).catch(() => null)
  return link === null ? '' : `\n  To sign in to the dashboard, once and within 15 minutes: ${link}\n\n`
}

/** Where there is the website of the example: a trial shows little before there is traffic. */
function exampleDataStep({ catalog }: Service, data: string): string {
  const { website, organization, data: usual } = EXAMPLE_DEFAULTS
  const isThere = [...catalog.current().websites.values()].some(
    (own) => own.id === website && own.organization.id === organization,
  )
  if (!isThere) return ''
  const more = resolve(data) === resolve(usual) ? '' : ` -- --data ${data}`
  return `  To fill the dashboard with two years of made-up traffic, in a second terminal: npm run -s example-data${more}\n\n`
}
