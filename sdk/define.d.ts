/** What the build writes into the bundles. */

/** True in the bundle that explains itself on the console. Everything behind it is left out of the others. */
declare const DEBUG: boolean
