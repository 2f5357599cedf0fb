/**
 * Under what the requests of the dashboard are stored, which are of an organisation and of no website. Rows of Logs are found
 * by website first: under an empty one they would lie among the requests of strangers, whose number nobody bounds.
 */

/** No ID of a website begins with it. */
const MARK = '~'

/** In the column for the website, a place of each organisation's own. */
export function dashboardPlace(organization: string): string {
  return MARK + organization
}

/** The website that the row of a request names to people: empty for a request of the dashboard. */
export function websiteShown(website: string): string {
  return website.startsWith(MARK) ? '' : website
}
