/** The line with which an installer reports an install: one form for status, pages, the setup skill and the documentation. */

import type { EventType } from '../model.ts'

interface ReportedPlace {
  /** Public address of the service, without a slash at its end. */
  readonly baseUrl: string
  readonly website: string
  /** Install path; null if the line names none. */
  readonly path: string | null
}

/** A service that does not answer holds an installer no longer; the script limits its own running time. In seconds. */
const CONNECT_S = 3
const DOWNLOAD_S = 5

/**
 * Works in every POSIX shell and in csh, and neither ends nor holds an installer: not under `set -eu -o pipefail`, nor if the service is away, hangs, or cuts the
 * download, which is a syntax error as a whole.
 */
export function installerLine(place: ReportedPlace): string {
  return `${hookCommand(place, 'install_completed')} || :`
}

/** For a program, which starts it in the background and waits for nothing. */
export function hookCommand(place: ReportedPlace, eventType: EventType): string {
  const limits = `--connect-timeout ${CONNECT_S} --max-time ${DOWNLOAD_S}`
  return `curl -fsSL ${limits} ${scriptAddress(place)} | sh -s -- ${eventType}`
}

/** Of the hook as it is served for a website. */
export function scriptAddress({ baseUrl, website, path }: ReportedPlace): string {
  return `${baseUrl}/v1/projects/${website}${path === null ? '' : `/paths/${path}`}/report.sh`
}
