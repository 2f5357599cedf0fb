/** Titles for types of activity; a type without a title is shown by its name. */

export const ACTIVITY_TITLES: Readonly<Record<string, string>> = {
  example_data: 'Made-up traffic was filled in',
  object_created: 'An object is new',
  object_changed: 'An object was changed',
  destination_live: 'A destination went live',
  origins_changed: 'The origins of a website changed',
  object_removal: 'Somebody is removing an object',
  object_removed: 'An object is gone',
  sign_in: 'Somebody signed in',
  plan_limit_reached: 'The plan does not allow more',
  data_erased: 'Data of a person were erased',
  disk_full: 'The disk is nearly full',
  origin_not_registered: 'A visit from an origin that is not registered',
  rate_limit_reached: 'A limit of rate was reached',
  quota_reached: 'The quota of the month was reached',
  destination_paused: 'A destination was paused',
  destination_resumed: 'A destination delivers again',
  catalog_problem: 'Something in the configuration is wrong',
  visit_matched_often: 'One visit was matched by many installations',
  replay_cancelled: 'A replay of decisions was cancelled',
  spend_imported: 'Ad spend was imported',
  spend_removed: 'An import of ad spend was removed',
  deliveries_replayed: 'Failed deliveries were sent again',
  export: 'Records were downloaded',
  support_requested: 'Support was asked for',
  mail_not_delivered: 'A mail could not be delivered',
  weekly_summary: 'The numbers of the last week were summed up',
  weekly_mail_ended: 'Somebody ended their weekly mail',
  weekly_mail_resumed: 'Somebody wants their weekly mail again',
  account_replaced: 'Somebody else has an address of a member',
}

export function activityTitle(type: string): string {
  return ACTIVITY_TITLES[type] ?? type.replaceAll('_', ' ')
}
