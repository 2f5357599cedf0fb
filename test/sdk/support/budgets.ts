/** What the files of the SDK may weigh, with brotli at its best. */

/** The part that every visitor loads, and what it keeps free for changes to come. */
export const CORE_BYTES = 3 * 1024
export const FREE_BYTES = 300
export const EXTRAS_BYTES = 4 * 1024
/** All that a website with GA4 and one advertising provider loads before its visit is sent. */
export const BEFORE_VISIT_BYTES = 3_900
