/** What people read of a set-up that does not work: what is wrong, and what to do. */

import type { PageFailure, PageFinding } from './page-check.ts'
import type { SetUpTrouble } from './troubles.ts'

export interface FaultWords {
  /** "The page is not on this website" */
  readonly title: string
  readonly advice: string
}

export const TROUBLE_WORDS: Readonly<Record<SetUpTrouble, FaultWords>> = {
  origin_not_registered: {
    title: 'A page on an address that is not registered sent a visit',
    advice:
      'If the address is yours, add it to the website, under Additional domains. Until then its visits are refused.',
  },
  website_unknown: {
    title: 'The website’s ID is misspelt',
    advice: 'Nothing is registered under the ID that was sent. Copy the text of this step again.',
  },
  script_refused: {
    title: 'What the page sends is refused',
    advice:
      'Something changes the requests on their way, such as a proxy of your own. The line in Logs says which field.',
  },
  path_unknown: {
    title: 'The installer’s line names an install method that does not exist',
    advice: 'The part after /paths/ is no install path of yours. Copy the line of this step again.',
  },
  sent_by_browser: {
    title: 'A web page sent the report of an install',
    advice: 'Only the installer may send it: take the report out of the page, and put the line into the installer.',
  },
  report_refused: {
    title: 'What the installer sends is refused',
    advice: 'The script was changed, or values are passed on wrongly. Run the line with --print: it shows the request.',
  },
  too_many: {
    title: 'Too many requests came at once',
    advice: 'Wait a minute. If all visitors are refused, the service does not know your proxy: see --trust-proxy.',
  },
  plan_only_counts: {
    title: 'The plan Free counts installs and matches none',
    advice: 'Choose another plan under Plan and usage. Whoever runs this service can also set it in the Organization.',
  },
  path_paused: {
    title: 'The install method is paused',
    advice: 'Its installs are counted and not matched. Switch it on again under Resources.',
  },
  over_quota: {
    title: 'The visit came after the month’s quota was used up',
    advice: 'What comes then is answered and not recorded. Plan and usage says when the month ends.',
  },
  old_marker: {
    title: 'The install found an old marker',
    advice: 'The visit was more than 30 days ago. Open the page again, then install.',
  },
  replaced_marker: {
    title: 'The install brought a marker that a newer visit has replaced',
    advice: 'Two copies of one browser profile, or a page opened meanwhile. Open the page again, then install.',
  },
  unconfirmed_marker: {
    title: 'The page never confirmed its marker',
    advice: 'It was closed before the script had finished. Open it, wait for a few seconds, then install.',
  },
  other_website: {
    title: 'The install brought the visit of another website',
    advice: 'The installer’s line names this website, and the page another one. Both must name the same.',
  },
  made_up: {
    title: 'The install brought a token or marker that was not made here',
    advice: 'It was cut when it was copied, or belongs to another service. Copy the command again.',
  },
  nothing_brought: {
    title: 'The install brought neither a token nor a marker',
    advice:
      'The command was not copied by its button, or the browser with the visit is on another machine. In CI, under sudo without a user, and where somebody refuses it, no marker is looked for.',
  },
}

/** `fine` is no fault, and says what to look for instead. */
export const PAGE_WORDS: Readonly<Record<PageFinding | PageFailure, FaultWords>> = {
  not_registered: {
    title: 'The page is not on this website',
    advice: 'Give an address on an origin of the website, or add its origin to the website first.',
  },
  not_public: {
    title: 'The page is not public',
    advice: 'The service opens public https addresses alone. From your own machine, run: whencectl check ADDRESS',
  },
  name_unknown: { title: 'The address does not exist', advice: 'No server answers to this name. Check the spelling.' },
  no_connection: { title: 'The page’s server cannot be reached', advice: 'It did not answer. Try again.' },
  bad_certificate: {
    title: 'The page’s certificate is not valid',
    advice: 'Browsers refuse the page, too, or complain. Renew the certificate.',
  },
  too_slow: { title: 'The page took too long', advice: 'Its server did not answer within ten seconds. Try again.' },
  not_readable: {
    title: 'The answer is no page that can be read here',
    advice:
      'It is no HTML, or it is compressed without being asked to. From your own machine, run: whencectl check ADDRESS',
  },
  leads_away: {
    title: 'The page leads to an address that is not registered',
    advice:
      'It redirects to another origin. Add that origin to the website, or give the address where the page really is.',
  },
  not_found: {
    title: 'There is no such page',
    advice: 'Its server answers that it does not exist. Check the address.',
  },
  refused: {
    title: 'The page’s server refuses to show it',
    advice: 'It may ask for a password, or keep programs away. From your own machine, run: whencectl check ADDRESS',
  },
  no_script: {
    title: 'The script is missing',
    advice: 'The page’s source does not have it. Was the site published after you added it? Is a cache in front of it?',
  },
  tag_manager: {
    title: 'The script may come from Google Tag Manager',
    advice: 'The page’s source does not have it, and loads Tag Manager. Publish the container, then make a test visit.',
  },
  no_project: { title: 'The script names no website', advice: 'data-project is missing. Copy the script again.' },
  other_project: {
    title: 'The script names another website',
    advice: 'data-project has another ID than the website that you chose here. Copy the script again.',
  },
  other_service: {
    title: 'The script comes from another service',
    advice: 'Its address is not the one of this service. Copy the script again.',
  },
  policy_script: {
    title: 'The page’s Content Security Policy keeps the script out',
    advice: 'Add this service’s address to script-src and to connect-src.',
  },
  policy_connect: {
    title: 'The page’s Content Security Policy keeps visits from being sent',
    advice: 'Add this service’s address to connect-src.',
  },
  consent_denied: {
    title: 'The script is switched off',
    advice: 'data-consent is "denied": nothing is counted, whatever visitors choose. Write "required" or take it out.',
  },
  consent_required: {
    title: 'The script waits for consent',
    advice: 'Nothing is counted until your banner calls whence.grant(). Agree in the banner, then look again.',
  },
  manual_start: {
    title: 'The script waits for a call',
    advice: 'data-manual is set: nothing is counted until the page calls whence.start().',
  },
  no_command: {
    title: 'No install command is marked on the page',
    advice: 'On the page that shows it, mark it as the step below says. Other pages need no mark.',
  },
  fine: {
    title: 'The page’s source is as it should be',
    advice: 'If no visit comes all the same, something in the browser keeps it away: try without extensions.',
  },
}
