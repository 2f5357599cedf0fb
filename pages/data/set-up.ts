/** The answers of the set-up, as the address has them, and what keeps its steps open. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import {
  COMMAND_PLACES,
  INSTALL_TOOLS,
  MATCHING_CHOICES,
  type CommandPlace,
  type InstallTool,
  type Matching,
} from '../../domain/onboarding/choices.ts'
import { ask, path, query } from './ask.ts'
import { websiteFilterOf } from './checklist.ts'

/** As in the address. Nothing is chosen until the reader chooses. */
export interface SetUpAnswers {
  readonly website?: string
  readonly place?: CommandPlace
  readonly tool?: InstallTool
  readonly matching?: Matching
  /** The reader's own install command. */
  readonly command?: string
}

const COMMAND_CHARS = 2_000

export function setUpAnswersOf(search: Readonly<Record<string, unknown>>): SetUpAnswers {
  const place = COMMAND_PLACES.find((each) => each === search['place'])
  const tool = INSTALL_TOOLS.find((each) => each === search['tool'])
  const matching = MATCHING_CHOICES.find((each) => each === search['matching'])
  const { command } = search
  return {
    ...websiteFilterOf(search),
    ...(place === undefined ? {} : { place }),
    ...(tool === undefined ? {} : { tool }),
    ...(matching === undefined ? {} : { matching }),
    ...(typeof command === 'string' && command !== '' ? { command: command.slice(0, COMMAND_CHARS) } : {}),
  }
}

export type SetUpState = JsonFrom<'setUp'>
export type SetUpFault = SetUpState['troubles'][number]

const AGAIN_MS = 3_000

/** Asked again while somebody looks at it. */
export function setUpQuery(organization: string, website: string) {
  return queryOptions({
    queryKey: ['set-up', organization, website],
    queryFn: ({ signal }) =>
      ask<SetUpState>(path('/api/organizations/:organization/set-up', { organization }) + query({ website }), {
        signal,
      }),
    refetchInterval: AGAIN_MS,
  })
}

export type PageCheck = JsonFrom<'checkPage'>

/** What a check is about, or a test. */
export interface OfWebsite {
  readonly organization: string
  readonly website: string
}

export function askForPageCheck({ organization, website }: OfWebsite, url: string): Promise<PageCheck> {
  const names = { organization, website }
  return ask<PageCheck>(path('/api/organizations/:organization/websites/:website/page-checks', names), {
    method: 'POST',
    body: { url },
  })
}

/** Whether this browser gets the script of the service at all. Nothing of it is run. */
export function isScriptBlocked(): Promise<boolean> {
  const link = document.createElement('link')
  link.rel = 'preload'
  link.as = 'script'
  link.href = `/browser.js?${Date.now()}`
  return new Promise<boolean>((resolve) => {
    link.onload = () => resolve(false)
    link.onerror = () => resolve(true)
    document.head.append(link)
  }).finally(() => link.remove())
}
